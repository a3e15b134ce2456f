/**
 * The words of the two ends of a channel, and of a place (channel.ts). P_ stands for "place". A watch has two ends, too
 * (watch.ts): `next` of its sending end is its version, and of the other words it uses peer, data, end and codec.
 *
 * | word                | changed by                              | how                                           |
 * |---------------------|-----------------------------------------|-----------------------------------------------|
 * | peer, data          | link; claimPages before link            | cmpxchg 0 -> both; store                      |
 * | next, of a sender   | tryClaim, claim, with a permit          | add n: the places from the old value on (R14) |
 * |                     | close                                   | or, the sign (R16)                            |
 * | next, of a receiver | tryClaim, claim, with a permit          | add n: the messages from the old value on     |
 * | done                | pass, passOn; the reaper                | cmpxchg i -> i+n, with n permits (R15)        |
 * | end                 | close, the first                        | store (R16)                                   |
 * | untold              | the reaper                              | add 1 (R17), add what was unread (R20)        |
 * |                     | takeUntold                              | exchange for 0                                |
 * | told                | takeUntold; abandon                     | add                                           |
 * |                     | a microtask, for what was unread in a   | add (src/channel/endpoint.ts)                 |
 * |                     | call that was cut short                 |                                               |
 * | codec               | agree                                   | cmpxchg 0 -> hash                             |
 * | senders             | the maker before link                   | store                                         |
 * |                     | endSending                              | sub n (R18)                                   |
 * | next, of a watch    | publish, with the turn                  | cmpxchg v -> v+1 (R19)                        |
 * |                     | closeWatch                              | or, the sign (R16)                            |
 *
 * Besides, O_MAX of both ends is 1 less than the capacity, and O_THRESHOLD the bytes of a place.
 */

/** What close adds to P_NEXT of the sending end: the sign. */
export const NEXT_CLOSED: i64 = -0x8000000000000000;

export const P_PEER: usize = 40; // i32, instead of O_COUNTER: the address of the other end
export const P_DATA: usize = 44; // i32, instead of O_COUNTER: the address of the first place
export const P_UNTOLD: usize = 48; // i32 of a Channel or ReceivingEnd, instead of O_PARKED: what deaths at the other end have lost, and nobody was told
export const P_CODEC: usize = 56; // i32 of a Channel or Watch, instead of O_OWN_LAST: the hash of the codec's name
// How many senders are still to leave before the channel closes itself; 0 if it never does.
export const P_SENDERS: usize = 52; // i32 of a ReceivingEnd, not set in a new object: its maker stores it before link
export const P_TOLD: usize = 60; // i32 of a Channel or ReceivingEnd, instead of O_OWN_LAST: as P_UNTOLD, of which a thread was told
export const P_NEXT: usize = 96; // i64 of a Channel or ReceivingEnd or Watch, instead of O_OWNER: the place that is claimed next; below 0: closed
export const P_DONE: usize = 112; // i64 of a Channel or ReceivingEnd, instead of O_OWN_LATE: all places before this one were passed to the other end
export const P_END: usize = 84; // i32 of a ReceivingEnd or WatchingEnd, instead of O_ADDED: endOf the last message; 0 while open

// --- Place: a head, and the bytes of a message. A place takes whole lines. --------------------------------------
//
// | word   | from -> to        | changed by, how                                                                       |
// |--------|-------------------|---------------------------------------------------------------------------------------|
// | mark   | any -> i + 1      | the sender that passes message i out of turn, or its reaper, store                    |
// |        | any -> ~(i + 1)   | the receiver that frees the place of message i out of turn, or its reaper, store      |
// | length | any               | the sender of the message, plain store; its reaper: HOLE, store                       |
// |        | any -> HOLE       | a receiver that has used the message in its place, plain store                        |
export const PLACE_MARK: usize = 0; // i64
export const PLACE_LENGTH: usize = 8; // i32: bytes of the message, or HOLE
export const PLACE_HEAD: usize = 16;
/** The bits of an answer that say that it is no place: the address of a place is a multiple of 64, and no other answer is. */
export const NO_PLACE: i32 = 63;
/** The length of a message that its sender has not finished, or that a receiver has used in its place. */
export const HOLE: i32 = -1;

/** How many places a watch has. */
export const PLACES: i32 = 4;

// --- Attachment, of a thread to one of the ends -----------------------------------------------------------------
/** i64: the first of the places that the thread claimed last. It is never cleared. */
export const E_TOOK: usize = 8;
/** i32: how many places it claimed then; 0 if it has passed them on. */
export const E_TOOK_COUNT: usize = 32;
/** i32, of the sending end: as how many of the senders it counts that are to leave. */
export const E_SENDERS: usize = 36;
/**
 * i32, of the receiving end, instead of E_SENDERS: how many messages the thread has copied out of places that it
 * has passed on, and has not handed to the program yet. They may be decoded just now, by code of the user.
 */
export const E_UNREAD: usize = 36;
/** i64: the 8 bytes that sendWord sends, or that takeWord has received. */
export const E_WORD: usize = 48;
/** i32: the index of the element of the same thread's attachment to the other end. */
export const E_PEER: usize = 56;
/** takeWord answers so many more if the message was a hole. */
export const HOLE_MORE: i32 = 64;

// --- Pages ------------------------------------------------------------------------------------------------------
/** The bytes for the label of a thread, which lies between the elements and the pages (src/look/labels.ts). */
export const LABEL_SIZE: usize = 32;
/** The bytes of a page, of which the places of a channel have some. */
export const PAGE_SIZE: usize = 4096;
