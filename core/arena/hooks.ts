export declare function hasCounter(kind: i32): bool;
