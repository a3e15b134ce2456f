export const C_WOKEN: usize = 40; // i64, of a Condition: the tickets at which a relay has looked (primitives/condition.ts)
