// The floors of the uncontended pair: two locked read-modify-writes, and nothing else.
//
// A ticket semaphore takes and gives back a permit with at least one atomic add for the ticket and one for the grant,
// so no implementation in wasm can beat `run`. Both words lie in one cache line of an otherwise unused page of shared
// memory. The loop runs inside wasm, so that calls are not counted. `take` and `give` do one of the adds in each call.

const TICKET: usize = 0;
const GRANT: usize = 8;

export function run(pairs: i32): i64 {
  let last: i64 = 0;
  while (pairs > 0) {
    last = atomic.add<i64>(TICKET, 1);
    last += atomic.add<i64>(GRANT, 1);
    pairs--;
  }
  return last;
}

export function take(at: usize): void {
  atomic.add<i64>(at, 1, TICKET);
}

export function give(at: usize): void {
  atomic.add<i64>(at, 1, GRANT);
}
