/**
 * The side of Java of docs/guides/from-java-util-concurrent.md: a program for each row that says how Java behaves. Run by
 * hand, not in CI: java -ea test/guides/peers/Rows.java
 */
import java.lang.management.ManagementFactory;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;

class Rows {
  interface Call { void run() throws Exception; }

  static Thread thread(Call call) {
    var thread = new Thread(() -> { try { call.run(); } catch (Exception e) { throw new RuntimeException(e); } });
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  static void until(BooleanSupplier condition) throws Exception { while (!condition.holds()) Thread.sleep(1); }
  interface BooleanSupplier { boolean holds(); }

  public static void main(String[] none) throws Exception {
    row("Semaphore(n, true) serves in order, and a request for several permits is whole", () -> {
      var semaphore = new Semaphore(3, true);
      semaphore.acquire(2);
      var order = new ConcurrentLinkedQueue<String>();
      thread(() -> { semaphore.acquire(3); order.add("3"); semaphore.release(3); });
      until(() -> semaphore.getQueueLength() == 1);
      thread(() -> { semaphore.acquire(); order.add("1"); semaphore.release(); });
      until(() -> semaphore.getQueueLength() == 2);
      assert semaphore.tryAcquire(); // tryAcquire without a time-out overtakes, also here
      semaphore.release(3);
      until(() -> order.size() == 2);
      assert String.join(",", order).equals("3,1");
    });
    row("ReentrantLock is reentrant, and fair by an argument", () -> {
      var lock = new ReentrantLock(true);
      lock.lock();
      lock.lock();
      assert lock.getHoldCount() == 2 && lock.isFair();
    });
    row("tryLock(time, unit) answers false", () -> {
      var lock = new ReentrantLock();
      lock.lock();
      var answer = new CompletableFuture<Boolean>();
      thread(() -> answer.complete(lock.tryLock(5, TimeUnit.MILLISECONDS)));
      assert !answer.get();
    });
    row("lockInterruptibly ends by interrupt", () -> {
      var lock = new ReentrantLock();
      lock.lock();
      var ended = new CompletableFuture<Boolean>();
      var waiter = thread(() -> {
        try { lock.lockInterruptibly(); } catch (InterruptedException e) { ended.complete(true); }
      });
      until(() -> lock.hasQueuedThread(waiter));
      waiter.interrupt();
      assert ended.get();
    });
    row("newCondition, awaitUninterruptibly, signal, signalAll", () -> {
      var lock = new ReentrantLock();
      var condition = lock.newCondition();
      var woken = new AtomicInteger();
      for (int i = 0; i < 3; i++)
        thread(() -> { lock.lock(); condition.awaitUninterruptibly(); woken.incrementAndGet(); lock.unlock(); });
      until(() -> { lock.lock(); try { return lock.getWaitQueueLength(condition) == 3; } finally { lock.unlock(); } });
      lock.lock();
      condition.signal();
      lock.unlock();
      until(() -> woken.get() == 1);
      lock.lock();
      condition.signalAll();
      lock.unlock();
      until(() -> woken.get() == 3);
    });
    row("a reader of a ReentrantReadWriteLock that locks for writing waits for ever", () -> {
      var lock = new ReentrantReadWriteLock();
      lock.readLock().lock();
      assert !lock.writeLock().tryLock(20, TimeUnit.MILLISECONDS);
    });
    row("StampedLock: tryOptimisticRead, validate", () -> {
      var lock = new StampedLock();
      long stamp = lock.tryOptimisticRead();
      assert lock.validate(stamp);
      lock.unlockWrite(lock.writeLock());
      assert !lock.validate(stamp);
    });
    row("CountDownLatch.await with a time-out answers false", () -> {
      var latch = new CountDownLatch(1);
      assert !latch.await(5, TimeUnit.MILLISECONDS);
      latch.countDown();
      latch.await();
    });
    row("CyclicBarrier breaks, and has reset", () -> {
      var barrier = new CyclicBarrier(2);
      try { barrier.await(5, TimeUnit.MILLISECONDS); } catch (TimeoutException e) {}
      assert barrier.isBroken();
      barrier.reset();
      assert !barrier.isBroken();
    });
    row("Phaser has parties that change", () -> {
      var phaser = new Phaser(1);
      phaser.register();
      phaser.arriveAndDeregister();
      phaser.arriveAndAwaitAdvance();
      assert phaser.getPhase() == 1;
    });
    row("ArrayBlockingQueue and LinkedBlockingQueue are bounded", () -> {
      for (BlockingQueue<Integer> queue : new BlockingQueue[] {new ArrayBlockingQueue<>(1), new LinkedBlockingQueue<>(1)}) {
        queue.put(1);
        assert !queue.offer(2) && queue.take() == 1;
      }
    });
    row("a sender of a SynchronousQueue waits until its message is received", () -> {
      var queue = new SynchronousQueue<Integer>();
      assert !queue.offer(1, 20, TimeUnit.MILLISECONDS);
    });
    row("ExecutorService, Future", () -> {
      var pool = Executors.newFixedThreadPool(2);
      assert pool.submit(() -> 4).get() == 4;
      pool.shutdown();
    });
    row("ConcurrentHashMap with a lock for each key", () -> {
      var locks = new ConcurrentHashMap<String, ReentrantLock>();
      locks.computeIfAbsent("a", key -> new ReentrantLock()).lock();
      var free = new CompletableFuture<Boolean>();
      thread(() -> free.complete(locks.computeIfAbsent("b", key -> new ReentrantLock()).tryLock()));
      assert free.get();
    });
    row("ThreadLocal, AtomicInteger", () -> {
      var own = ThreadLocal.withInitial(() -> 0);
      var all = new AtomicInteger();
      own.set(1);
      var seen = new CompletableFuture<Integer>();
      thread(() -> { all.incrementAndGet(); seen.complete(own.get()); });
      assert seen.get() == 0 && all.incrementAndGet() == 2;
    });
    row("try-with-resources closes at the end", () -> {
      var open = new AtomicInteger(1);
      try (AutoCloseable held = open::decrementAndGet) { assert open.get() == 1; }
      assert open.get() == 0;
    });
    row("the lock of a thread that has ended stays locked", () -> {
      var lock = new ReentrantLock();
      thread(lock::lock).join();
      assert lock.isLocked() && !lock.tryLock(20, TimeUnit.MILLISECONDS);
    });
    row("findDeadlockedThreads names both threads", () -> {
      var locks = new ReentrantLock[] {new ReentrantLock(), new ReentrantLock()};
      var met = new CyclicBarrier(2);
      for (int i : new int[] {0, 1}) thread(() -> { locks[i].lock(); met.await(); locks[1 - i].lock(); });
      var threads = ManagementFactory.getThreadMXBean();
      until(() -> threads.findDeadlockedThreads() != null);
      assert threads.findDeadlockedThreads().length == 2;
    });
  }

  static void row(String what, Call call) throws Exception {
    call.run();
    System.out.println("as the page says: " + what);
  }
}
