-- turn: the one script of taketurns-processes. A call carries the operations of one session, in the order in which its
-- process asked for them.
--
-- This file is the frame: it describes the data on the server, has what all parts share, and says where each part
-- stands. The build joins the parts in this order (scripts/embed.mjs):
--
--     tickets      one counter for everything     objects     the objects of a call
--     requests     a request comes and goes       queue       who waits, and how the head is served
--     sessions     signs of life, and deaths      operations  all operations but A, T, D, E and G
--     rates        dates for permits of rates     call        from ARGV to the reply
--
-- The script runs in two forms. A server runs it as it is. The broker of a space without a server runs it as JavaScript
-- (scripts/compile-lua.mjs), over maps and lists of its own in place of keys (local/store.ts). What only the broker
-- does stands behind three hyphens, and what only a server does between -- [server and -- server]. The broker knows from
-- the kernel who has died, so it watches no leases; there is one history and one partition; and no memory is full.
-- PostgreSQL does the same in a function over tables (../postgres/schema.sql), which test/tables.test.ts compares with the
-- script.
--
-- ARGV: sid conn channel (the session, the number of its connection, the prefix of the channels), then the operations.
-- An operation is a letter and its arguments. Their number is fixed, or one of the arguments is a count.
-- Reply: one answer for each operation, then the grants that the call has made to waiting requests of the caller
-- (rid:ticket:deaths:lent:waiting). DEAD alone: the session has ended. STALE alone: the call comes from a connection
-- that has been replaced.
--
-- All that the server knows of a partition lies in seven keys with one hash tag. All numbers in the names of members
-- are hexadecimal and of fixed width. So members sort as the numbers do, and are taken apart by position.
--
--   META      hash   v: the newest format that the data may have; a change of this layout is a new format, see
--                    FORMAT in wire.ts. p, lease: what all sessions agree on. reads2, reads3...: how many sessions
--                    read formats up to this one. ticket: the last ticket that was given. history, epoch,
--                    leapt, late: see `compare`. first, since: see `note`. beaten: the time of the last beat, in
--                    milliseconds. sid rid -> the time of the first beat that named this held request, see `U`
--   OBJECTS   hash   name -> the state of the object, see `get`. name NUL ticket -> the number of deaths of which the
--                    holder with this ticket has been told
--   QUEUE     zset   name NUL ticket(14) sid(16) rid(10) n(8) p0(14) t(11): the requests that wait, in the order of
--                    tickets. n: the permits. p0, t: `passes` of the mutex and `beaten` at the time of the request
--   RECORDS   zset   sid(16) rid(10) ticket(14) n(8) name: all requests of a session that wait or hold
--   SESSIONS  hash   sid -> conn reads label. reads: the last format that the process can read
--   LEASES    zset   sid, scored by the ticket of its last sign of life
--   SEQS      hash   sid -> the number of the last message to this session
--
-- A request that has a record but no entry in the queue holds its permits. Invariants after each call:
--   I1  for each object, free + the permits of all held records = max
--   I2  each entry of the queue has its record
--   I3  for each object, waiting = the number of its entries in the queue
--   I4  for each object, nobody waits, or the head's n > free, or the queue notes that grants are left
--   I5  the grants of an object are in the order of tickets
--   I6  each grant was told to its session: in the reply to the session's own call, or in a message with the session's
--       next number
--
-- No call takes the server long, however much there is to do. The answers to S, X, L, K, I, J and P may tell the caller
-- that something is left, and then the caller asks again. If grants are left, the queue gets the entry NUL name, and
-- the next beat of any session goes on with them. The caller is told `+`, and beats at once. Until then the head of
-- that queue waits although it might be served (I4), and so do all requests behind it. If the caller dies in between,
-- the grants only come up to a tenth of a lease later.
--
-- What a full memory does: the first write of a call is one of two kinds. The server may refuse HINCRBY of the ticket.
-- Then the call has changed nothing. The server never refuses ZREM and HDEL, and once one of them has run, it refuses
-- no later write of the call. So a full memory loses nothing, and permits can be given back.
--
-- A message is a hint. The number of the next message or beat shows that a message was lost, so a PUBLISH that fails is
-- no error.

local META, OBJECTS, QUEUE, RECORDS, SESSIONS, LEASES, SEQS =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
-- [server
local RATES = string.sub(META, 1, -5) .. 'rate:' -- the keys of rates begin so
-- server]
local call, sub, match, format = redis.call, string.sub, string.match, string.format
local sid, conn, channel = ARGV[1], ARGV[2], ARGV[3]

local MOST_LENT = 255 -- passes lent at once: one call removes so many records; a token has 12 bits for the pass
local MOST_FOUND = 256 -- the most entries that an operation looks at
local WORK = 128 -- the most records that a call takes away, and the most grants that it makes

-- [server
local objects = {} -- the objects of this call by name; false for a name without an object
-- server]
local changed = {} -- the names of the objects that have changed, in order
local own, caller = {}, sid -- own: the news for the caller, which it gets in the reply
local told, tellings = {}, {} -- told: the sessions that get a message, in order; tellings: the news for each
local gone = {} -- sessions that this call has ended
local work = WORK -- how much work this call may still do
local moment -- the time of the partition, once a rate has asked for it

-- part: tickets

-- Making a function takes about as long as calling one. So functions are made only when a call needs one of them:
-- `requests` makes those for objects and requests, `rest` those for requests that wait, `operations` the rare operations,
-- `rates` those for rates, and `seldom` those that most operations on rates do not need.
local requests, rates

requests = function()
  -- part: objects

  -- part: requests

  rest = function()
    -- part: queue

    local made = {
      entry_of = entry_of, lend = lend, tell = tell, grant = grant, restore = restore, state = state, take_off = take_off,
      drop = drop,
    }

    -- Returns the rare operations, by their letters.
    made.operations = function()
      -- part: sessions

      -- part: operations
    end

    rest = function() return made end
    return made
  end

  local made = { ask = ask, give_back = give_back, write = write, rest = function() return rest() end }
  requests = function() return made end
  return made
end

-- part: rates

-- part: call
