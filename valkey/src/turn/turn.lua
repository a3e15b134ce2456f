-- turn: the one script of taketurns-valkey. A call carries the operations of one session, in the order of its program.
--
-- This file is the frame: the data on the server, what all parts share, and where each part stands. The build joins the parts
-- in this order (scripts/embed.mjs).
--
--     objects      the objects of a call          tickets     one counter for all
--     requests     a request comes and goes       queue       who waits, and how the head is served
--     sessions     signs of life, and deaths      operations  all but those of requests
--     call         from ARGV to the reply
--
-- ARGV: sid conn channel, then operations: a letter and its arguments, of a fixed number or counted by one of them.
-- Reply: one answer for each operation, then the grants to waiting requests of the caller (rid:ticket:deaths:lent:waiting).
-- DEAD alone: the session has ended. STALE alone: the call is of a connection that has been replaced.
--
-- All that the server knows of a partition lies in seven keys with one hash tag. All numbers in names of members are
-- hexadecimal and of fixed width, so that members sort as numbers do, and are taken apart by position.
--
--   META      hash   v, p, lease (what all sessions agree on), ticket (the last one given), history, epoch, leapt, late (see
--                    `compare`), first, since (see `note`), beaten (the time of the last beat, in milliseconds); sid rid -> the
--                    time of the first beat in which its session held the request, see `U`
--   OBJECTS   hash   name -> its state, see `get`; name NUL ticket -> deaths of which that holder has been told
--   QUEUE     zset   name NUL ticket(14) sid(16) rid(10) n(8) p0(14) t(11)   who waits, in the order of tickets; t: `beaten`
--   RECORDS   zset   sid(16) rid(10) ticket(14) n(8) name               all that a session waits for or holds
--   SESSIONS  hash   sid -> conn label
--   LEASES    zset   sid, scored by the ticket that its last sign of life was given
--   SEQS      hash   sid -> the number of the last message sent to it
--
--
-- A request of which there is a record and no entry in the queue is held. After each call:
--   I1  free + the permits of all held records = max, for each object
--   I2  an entry of the queue has its record
--   I3  waiting = the entries of the name
--   I4  nobody waits, or the head's n > free, or grants of the name are noted as left
--   I5  the grants of an object are in the order of tickets
--   I6  a grant was told to its session: in the reply to its own call, or in a message with the session's next number
--
-- No call takes the server long, whatever there is. A caller that asks for much at once is answered that something is left,
-- and asks again: S, X, L, K, I, J, P. Grants that are left are noted as an entry NUL name of the queue, and go on with the
-- next beat, of whichever session beats first; the caller is told `+`, and beats at once. Until then the head of that queue
-- waits though it might be served (I4), and so do all behind it. So if the caller dies in between, nothing is lost but a
-- quarter of a lease.
--
-- The first write of a call is one of two kinds. HINCRBY of the ticket may be refused for want of memory: then nothing has
-- changed. ZREM and HDEL are never refused, and once one has run, the rest of the call is not refused either. So nothing is
-- lost where memory is full, and permits can be given back. A message is a hint. Its loss is found by its number, so a
-- PUBLISH that fails is no error.

local META, OBJECTS, QUEUE, RECORDS, SESSIONS, LEASES, SEQS =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local call, sub, match, format = redis.call, string.sub, string.match, string.format
local sid, conn, channel = ARGV[1], ARGV[2], ARGV[3]

local MOST_LENT = 255 -- so many records come back at once; a token has 12 bits for the number of a pass
local MOST_FOUND = 256 -- entries that an operation looks at
local WORK = 128 -- records that a call may take away, and grants that it may make

local objects = {} -- the objects of this call by name, false where there is none
local changed = {} -- names of those that have changed, in order
local own, caller = {}, sid -- grants to requests of the caller, who hears of them in the reply
local told, tellings = {}, {} -- sessions with something to be told, in order; what each is told
local gone = {} -- sessions that this call has ended
local work = WORK -- what is left of it

-- part: objects

-- part: tickets

-- part: requests

-- To make a function takes about as long as to call one. So those that most calls do not need are made when a call first
-- needs one of them: `rest` those for who waits, `operations` the other operations.
rest = function()
  -- part: queue

  local made = {
    entry_of = entry_of, lend = lend, tell = tell, grant = grant, restore = restore, state = state, take_off = take_off,
    drop = drop,
  }

  -- All other operations, by their letters.
  made.operations = function()
    -- part: sessions

    -- part: operations
  end

  rest = function() return made end
  return made
end

-- part: call
