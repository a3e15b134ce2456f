//! What docs/guides/from-rust.md says of the standard library of Rust: a program for each such row. Run by hand, not in
//! CI: rustc -o build/rows test/guides/peers/rows.rs && build/rows. (parking_lot, tokio and crossbeam are not run.)
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock};
use std::thread;

fn main() {
    std::panic::set_hook(Box::new(|_| {})); // the panics below are on purpose

    row("a panic poisons a Mutex");
    let mutex = Mutex::new(0);
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let _held = mutex.lock().unwrap();
        panic!();
    }));
    assert!(mutex.lock().is_err());

    row("try_lock answers at once");
    let other = Mutex::new(0);
    let held = other.lock().unwrap();
    assert!(other.try_lock().is_err());
    drop(held);
    assert!(other.try_lock().is_ok());

    row("Condvar::wait_while waits while its function returns true");
    let pair = Arc::new((Mutex::new(true), Condvar::new()));
    let waiter = {
        let pair = pair.clone();
        thread::spawn(move || {
            let (waits, changed) = &*pair;
            *changed.wait_while(waits.lock().unwrap(), |waits| *waits).unwrap()
        })
    };
    *pair.0.lock().unwrap() = false;
    pair.1.notify_one();
    assert!(!waiter.join().unwrap());

    row("RwLock lets readers in together");
    let lock = RwLock::new(0);
    let (_one, _two) = (lock.read().unwrap(), lock.try_read().unwrap());
    assert!(lock.try_write().is_err());

    row("a panic poisons a Once; OnceLock runs its function once");
    let once = Once::new();
    assert!(catch_unwind(AssertUnwindSafe(|| once.call_once(|| panic!()))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| once.call_once(|| {}))).is_err());
    let (cell, runs) = (OnceLock::new(), AtomicUsize::new(0));
    for _ in 0..2 {
        cell.get_or_init(|| runs.fetch_add(1, Ordering::SeqCst));
    }
    assert_eq!(runs.load(Ordering::SeqCst), 1);

    row("Barrier lets all parties go on together");
    let barrier = Barrier::new(2);
    thread::scope(|all| {
        all.spawn(|| barrier.wait());
        barrier.wait();
    });

    row("a channel ends when its last sender is dropped, and sync_channel(0) has no place");
    let (sender, receiver) = std::sync::mpsc::sync_channel(0);
    assert!(sender.try_send(1).is_err());
    drop(sender);
    assert!(receiver.recv().is_err());
}

fn row(what: &str) {
    println!("as the page says: {what}");
}
