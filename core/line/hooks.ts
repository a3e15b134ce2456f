/** What the line asks about the kind of an object. primitives/kinds.ts answers; scripts/bind.mjs binds the two. */
export declare function threadBegins(): void;
export declare function threadEnds(): void;
export declare function hasHead(o: usize): bool;
export declare function mayQueue(o: usize): i32;
export declare function countWaiter(o: usize): void;
export declare function admitted(o: usize, attachment: i32): void;
export declare function cancelled(o: usize, requests: i64): void;
export declare function cancelledByDeath(o: usize, tickets: i64): void;
export declare function abandonHead(o: usize, attachment: i32): void;
export declare function abandonRequest(e: usize): void;
