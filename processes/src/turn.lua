-- turn: the one script of taketurns-processes. A call carries the operations of one session, in the order in which its
-- process asked for them.
--
-- This file is the frame: it describes the data on the server, has what all parts share, and says where each part
-- stands. The build joins the parts in this order (scripts/embed.mjs):
--
--     objects      the objects of a call          tickets     one counter for everything
--     requests     a request comes and goes       queue       who waits, and how the head is served
--     sessions     signs of life, and deaths      operations  all operations except A, T and D
--     call         from ARGV to the reply
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
local call, sub, match, format = redis.call, string.sub, string.match, string.format
local sid, conn, channel = ARGV[1], ARGV[2], ARGV[3]

local MOST_LENT = 255 -- passes lent at once: one call removes so many records; a token has 12 bits for the pass
local MOST_FOUND = 256 -- the most entries that an operation looks at
local WORK = 128 -- the most records that a call takes away, and the most grants that it makes

local objects = {} -- the objects of this call by name; false for a name without an object
local changed = {} -- the names of the objects that have changed, in order
local own, caller = {}, sid -- own: the news for the caller, which it gets in the reply
local told, tellings = {}, {} -- told: the sessions that get a message, in order; tellings: the news for each
local gone = {} -- sessions that this call has ended
local work = WORK -- how much work this call may still do

-- part: objects
-- The objects of a call. An object is read from OBJECTS when an operation first asks for it, and written at most once,
-- when the call ends.
--
--     get(name) --> o --> touch(name, o): o has changed --> write(name), in call.lua
--
-- The state of an object in OBJECTS is a text: "kind max robust ephemeral born free waiting deaths", and for a mutex
-- also "bypass passes lent noticed holder". `fixed` are the words from kind to born, which only a resize changes.
--
--   kind     s, m or w (semaphore, mutex, read-write lock), or r: a semaphore that was resized. A process that opens
--            such a semaphore need not know its number of permits, and is told the number
--   born     the ticket with which the object was made. A record with a smaller ticket belongs to an earlier object of
--            the same name
--   free     the number of permits that nobody holds; below 0 if a resize left fewer permits than are held
--   deaths   how many holders have died since the last grant
--   bypass, passes, lent, noticed, holder
--            only for a mutex, see `lend` in queue.lua. holder: the holder, as sid rid, or - if nobody holds. lent: how
--            many passes are lent to the holder. passes: how many passes count as used by earlier holders. noticed:
--            whether the holder knows that other processes wait
--
-- Invariant: an ephemeral object is not kept if nobody holds it, nobody waits for it and it has no deaths to tell.

local function get(name)
  local o = objects[name]
  if o ~= nil then return o end
  local text = call('HGET', OBJECTS, name)
  if not text then
    objects[name] = false
    return false
  end
  local fixed, kind, max, robust, ephemeral, born, free, waiting, deaths, rest =
    match(text, '^((%a) (%d+) (%d) (%d) (%x+)) (%-*%d+) (%d+) (%d+)(.*)$')
  o = {
    fixed = fixed, kind = kind, max = tonumber(max), robust = robust, ephemeral = ephemeral, born = born,
    free = tonumber(free), waiting = tonumber(waiting), deaths = tonumber(deaths), bypass = 0,
  }
  if kind == 'r' then o.lent = o.max end
  if kind == 'm' then
    local bypass, passes, lent, noticed, holder = match(rest, '^ (%d+) (%d+) (%d+) (%d) (.*)$')
    o.bypass, o.passes, o.lent = tonumber(bypass), tonumber(passes), tonumber(lent)
    o.noticed, o.holder = noticed, holder
  end
  objects[name] = o
  return o
end

local function touch(name, o)
  if not o.changed then
    o.changed = true
    changed[#changed + 1] = name
  end
end

local function write(name)
  local o = objects[name]
  if not o then return end
  if o.ephemeral == '1' and o.free == o.max and o.waiting == 0 and o.deaths == 0 then
    call('HDEL', OBJECTS, name)
    return
  end
  local text = o.fixed .. format(' %d %d %d', o.free, o.waiting, o.deaths)
  if o.kind == 'm' then
    text = text .. format(' %d %d %d %s %s', o.bypass, o.passes, o.lent, o.noticed, o.holder)
  end
  call('HSET', OBJECTS, name, text)
end
-- end: objects

-- part: tickets
-- Tickets: one counter of the partition, from which requests, signs of life and objects get their numbers.
--
--     history A:  1 2 3 ... 90 91 92          the last tickets may be lost with the server that gave them
--     history B:                       |<- room for those that wait ->|  next ...
--                                      late                           leapt
--
-- A ticket is 14 hexadecimal digits, so tickets sort as strings do. Invariant: no two requests have the same ticket,
-- and a later request has a larger one, even if a server was promoted that lacked the last tickets. `compare` sees to
-- this, once in each call that gives a ticket.

local time -- the time in milliseconds, once the call has asked for it
local beaten -- the time of the last beat, as 11 digits, once `compare` was called
local leapt -- tickets up to this one belong to earlier histories; known once `compare` was called
local topmost = 0 -- the largest ticket that the caller knows, as it says with `O`

local function now()
  if not time then
    local both = call('TIME')
    time = tonumber(both[1]) * 1000 + math.floor(tonumber(both[2]) / 1000)
  end
  return time
end

-- Notices that the data has another history, and then lets the tickets leap.
--
-- The replication id of a server changes when the server is promoted or restarted, and when its first replica comes.
-- The server may then have lost tickets that were given. So tickets leap to a number that is made from the time. All
-- lost tickets are smaller, unless the clock was set back. If the time gives no larger number, tickets leap by 2^24, so
-- they pass up to 2^24 lost tickets. A process that enters says what the largest ticket is that it was told. If this
-- server has given none as large, tickets leap past it, too. Between the tickets that may be lost and the new ones
-- there is room for the requests that wait now, see `renew`. If INFO is forbidden, the script does not notice another
-- history.
local function compare()
  if leapt then return end
  local info = redis.pcall('INFO', 'replication')
  local _, at
  if type(info) == 'string' then _, at = string.find(info, 'master_replid:', 1, true) end
  local meta = call('HMGET', META, 'history', 'leapt', 'ticket', 'beaten')
  local history = at and sub(info, at + 1, at + 40) or meta[1] or '-'
  leapt, beaten = meta[2], meta[4] or '00000000000'
  local last = tonumber(meta[3] or 0)
  if history ~= meta[1] or topmost > last then
    local late = (now() - 1577836800000) * 1024
    last = math.max(last, topmost)
    if late <= last then late = last + 16777216 end
    local ticket = late + call('ZCARD', QUEUE)
    leapt = format('%014x', ticket)
    call('ZREM', RECORDS, '') -- the call may give permits back next, which must not fail if memory is full
    call('HSET', META, 'history', history, 'leapt', leapt, 'late', format('%.0f', late), 'ticket', format('%.0f', ticket))
    if history ~= meta[1] then call('HINCRBY', META, 'epoch', 1) end
  end
end

local function next_ticket()
  compare()
  return format('%014x', call('HINCRBY', META, 'ticket', 1))
end
-- end: tickets

-- part: requests
-- A request comes and goes: ask (A, T) and give back (D). Nearly all operations are these, so their functions are made
-- in each call. What they need only if somebody waits is in queue.lua, behind `rest`.
--
--     A, T --> permits are free and nobody waits --> held       a record, but no entry in the queue
--          --> else, A --> waiting                              a record and an entry in the queue
--          --> else, T --> refused                              nothing
--     D    --> gives k permits back, and grants to the requests that wait
--
-- Invariant I1: free + the permits of all held records = max, for each object.
--
-- Each operation takes its arguments from ARGV[i] on. It returns its answer and the index of the next operation.

-- The record of a request, or nil. key: sid rid.
local function record_of(key)
  return call('ZRANGEBYLEX', RECORDS, '[' .. key, '(' .. key .. 'g', 'LIMIT', 0, 1)[1]
end

local rest -- makes the functions that a call needs only if somebody waits or dies, or for a rare operation

-- Whether the object is the one for which the ticket was given, and not a later object of the name. Both tickets have
-- 14 digits, so they compare as strings.
local function lives(o, ticket)
  return o and ticket > o.born
end

-- A request gets its permits. Returns what its process is told: ticket:deaths:lent:waiting. For a semaphore that was
-- resized, lent is its number of permits.
local function hold(name, o, key, ticket, n)
  o.free = o.free - n
  local deaths = o.deaths
  if deaths > 0 then
    call('HSET', OBJECTS, name .. '\0' .. ticket, deaths)
    o.deaths = 0
  end
  if o.kind == 'm' then
    o.holder, o.noticed, o.lent = key, '0', math.min(MOST_LENT, o.bypass)
    if o.waiting > 0 then rest().lend(name, o, key) end
  end
  return ticket .. ':' .. deaths .. ':' .. (o.lent or 0) .. ':' .. o.waiting
end

-- A name born rid n: asks for n permits, and joins the queue if they are not available at once. born: the ticket with
-- which the object was made; - for whichever object has the name.
-- T name born rid n: asks for n permits, and never joins the queue.
-- Answers: H...: the request holds. Q length: it waits, in a queue of this length. R: the permits are not available at
-- once (only T). X: there is no such object. M max: the object never has n permits.
local function ask(i, queues)
  local name, born, rid, hex = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  local known = record_of(sid .. rid)
  if known then return rest().state(known), i + 4 end -- a client library has sent the operation twice
  local o = get(name)
  if not o or (born ~= '-' and born ~= o.born) then return 'X', i + 4 end
  local n = tonumber(hex, 16)
  if n > o.max then return 'M ' .. o.max, i + 4 end
  if o.waiting == 0 and n <= o.free then
    local ticket = next_ticket()
    call('ZADD', RECORDS, 0, sid .. rid .. ticket .. hex .. name)
    touch(name, o)
    return 'H ' .. hold(name, o, sid .. rid, ticket, n), i + 4
  end
  if not queues then return 'R', i + 4 end
  local ticket = next_ticket()
  call('ZADD', RECORDS, 0, sid .. rid .. ticket .. hex .. name)
  call('ZADD', QUEUE, 0, name .. '\0' .. ticket .. sid .. rid .. hex .. format('%014x', o.passes or 0) .. beaten)
  o.waiting = o.waiting + 1
  touch(name, o)
  if o.noticed == '0' and o.lent > 0 and sub(o.holder, 1, 16) ~= sid then
    o.noticed = '1'
    rest().tell(sub(o.holder, 1, 16), '!' .. sub(o.holder, 17))
  end
  return 'Q ' .. o.waiting, i + 4
end

-- The holder of a mutex gives the mutex back. used: how many passes the holder says it has used. No more than it was
-- lent count.
local function end_turn(o, used)
  o.passes = o.passes + math.min(used, o.lent)
  o.lent, o.noticed, o.holder = 0, '0', '-'
end

-- D name rid ticket n k note passes count rid...: gives k of the n permits of a held request back.
--   note    what becomes of the deaths of which the holder was told. -: it was told of none. c: they are repaired.
--           r: they are not repaired, so the next holder is told of them. d: as r, and one more death counts, because
--           the holder has lost its lease. An s behind the letter says that a beat has named the request, see `U`
--   passes  how often the holder has passed the mutex on
--   rid...  the requests in the queue to which the mutex was passed; count is their number
-- Answers: D: done. G: the request is unknown, or it waits.
local function give_back(i)
  local name, rid, ticket, hex, note = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 5]
  local k, passes, count = tonumber(ARGV[i + 4]), tonumber(ARGV[i + 6]), tonumber(ARGV[i + 7])
  local last = i + 8
  local key = sid .. rid
  local o = get(name)
  if o and o.waiting > 0 then
    compare()
    -- A failover that the caller has not noticed may have lost the grant. Then the request waits.
    if ticket <= leapt and rest().entry_of(name, ticket) then return 'G', last + count end
  end
  if call('ZREM', RECORDS, key .. ticket .. hex .. name) == 0 then return 'G', last + count end
  if #note > 1 then
    call('HDEL', META, key)
    note = sub(note, 1, 1)
  end
  local n = tonumber(hex, 16)
  if k < n then call('ZADD', RECORDS, 0, key .. ticket .. format('%08x', n - k) .. name) end
  if not lives(o, ticket) then
    rest().restore(name, nil, ticket)
    -- The object was disposed of. The requests to which the mutex was passed may now belong to the next object of this
    -- name.
    for s = last, last + count - 1 do
      local record = record_of(sid .. ARGV[s])
      if record then rest().drop(record, false) end
    end
    return 'D', last + count
  end
  if note == 'r' or note == 'd' then
    rest().restore(name, o, ticket)
    if note == 'd' and o.robust == '1' then o.deaths = o.deaths + 1 end
  elseif note == 'c' then
    call('HDEL', OBJECTS, name .. '\0' .. ticket)
  end
  o.free = o.free + k
  for s = last, last + count - 1 do
    local record = record_of(sid .. ARGV[s])
    if record then rest().take_off(name, o, record) end
  end
  if o.holder == key then end_turn(o, passes) end
  touch(name, o)
  if o.waiting > 0 then rest().grant(name, o) end
  return 'D', last + count
end
-- end: requests

-- Making a function takes about as long as calling one. So the functions that most calls do not need are made only when
-- a call needs one of them: `rest` makes those for requests that wait, and `operations` makes the rare operations.
rest = function()
  -- part: queue
  -- The queue of an object: the requests that wait, in the order of tickets, and how the head is served. A part of
  -- `rest`.
  --
  --     head_of --> n <= free --> grant: the head leaves the queue, holds, and is told
  --             --> n >  free --> the head waits, and so do all requests behind it
  --             --> n >  max  --> the head is turned away; only a resize can lead here
  --
  -- An entry is name NUL ticket(14) sid(16) rid(10) n(8) p0(14) t(11). The script takes an entry apart by position,
  -- counted from its end. turn.lua lists the invariants I1 to I6. For I4, `grant` is called after each change that may
  -- let a head be served.

  -- Takes a record apart: sid rid, ticket, n, name.
  local function parts(record)
    return sub(record, 1, 26), sub(record, 27, 40), tonumber(sub(record, 41, 48), 16), sub(record, 49)
  end

  -- The entry of a request in the queue, or nil.
  local function entry_of(name, ticket)
    local key = name .. '\0' .. ticket
    return call('ZRANGEBYLEX', QUEUE, '[' .. key, '(' .. key .. 'z', 'LIMIT', 0, 1)[1]
  end

  local function head_of(name)
    return call('ZRANGEBYLEX', QUEUE, '[' .. name .. '\0', '(' .. name .. '\1', 'LIMIT', 0, 1)[1]
  end

  -- Notes news for a session. call.lua delivers the news.
  local function tell(to, text)
    if to == caller then
      own[#own + 1] = text
      return
    end
    local list = tellings[to]
    if not list then
      list = {}
      tellings[to] = list
      told[#told + 1] = to
    end
    list[#list + 1] = text
  end

  -- Decides how often the new holder of a mutex may pass the mutex on within its process.
  --
  -- Why no waiter is overtaken more than `bypass` times: only passes overtake. When the waiter came, `passes` was its p0,
  -- and at most one turn was under way, with at most `bypass` passes. Every later turn while it waits begins with
  -- passes + lent <= p0 of the eldest waiter + bypass, and the eldest came no later than this waiter. So `passes` never
  -- exceeds its p0 + bypass.
  --
  -- The passes that are left are shared among the requests that wait. If all were lent at once, they would go to the
  -- first process in the queue, and the other processes would have none until their waiters are served. But a long queue
  -- may be of one process, so a turn gets at least 1 part in 64.
  local function lend(name, o, key)
    local eldest = head_of(name)
    local lent = math.ceil((o.bypass - (o.passes - tonumber(sub(eldest, -25, -12), 16))) / math.min(o.waiting, 64))
    o.lent = math.max(0, math.min(MOST_LENT, lent))
    if sub(eldest, -59, -44) ~= sub(key, 1, 16) then o.noticed = '1' end
  end

  -- Returns the ticket under which a request that has waited is granted. If the request has waited since an earlier
  -- history, the lost end of that history may have granted larger tickets. Then the request gets a new ticket between the
  -- lost tickets and the new ones, also in its record.
  local function renew(name, entry)
    local ticket, key, n = sub(entry, -73, -60), sub(entry, -59, -34), sub(entry, -33, -26)
    compare()
    if ticket > leapt then return ticket end
    call('ZREM', RECORDS, key .. ticket .. n .. name)
    ticket = format('%014x', call('HINCRBY', META, 'late', 1))
    call('ZADD', RECORDS, 0, key .. ticket .. n .. name)
    return ticket
  end

  -- A waiter leaves the queue without permits, and its process hears why. x: the object is disposed of. c: all waiters
  -- are cancelled. m and a number: the object has only this number of permits.
  local function turn_away(name, o, entry, why)
    local ticket, to, rid, n = sub(entry, -73, -60), sub(entry, -59, -44), sub(entry, -43, -34), sub(entry, -33, -26)
    work = work - 1
    o.waiting = o.waiting - 1
    call('ZREM', QUEUE, entry)
    call('ZREM', RECORDS, to .. rid .. ticket .. n .. name)
    tell(to, rid .. ':' .. why)
  end

  -- Grants as long as the head can be served. Called after every change that may let the head be served. If a resize has
  -- left fewer permits than the head asks for, the head is turned away.
  local function grant(name, o)
    touch(name, o)
    while o.waiting > 0 do
      local entry = head_of(name)
      local n = tonumber(sub(entry, -33, -26), 16)
      if n > o.free and n <= o.max then return end -- the head waits, and so do all requests behind it
      if work <= 0 then
        call('ZADD', QUEUE, 0, '\0' .. name)
        own[#own + 1] = '+'
        return
      end
      if n > o.max then
        turn_away(name, o, entry, 'm' .. o.max)
      else
        work = work - 1
        local ticket = renew(name, entry)
        call('ZREM', QUEUE, entry)
        o.waiting = o.waiting - 1
        local rid = sub(entry, -43, -34)
        local to = sub(entry, -59, -44)
        tell(to, rid .. ':' .. hold(name, o, to .. rid, ticket, n))
      end
    end
  end

  -- A holder was told of deaths, and nobody has repaired what the dead left. So the next holder is told of these deaths.
  local function restore(name, o, ticket)
    local note = name .. '\0' .. ticket
    local deaths = call('HGET', OBJECTS, note)
    if deaths then
      call('HDEL', OBJECTS, note)
      if o then o.deaths = o.deaths + tonumber(deaths) end
    end
  end

  -- The state of a request of the caller. H ticket:deaths:lent:waiting:n: it holds. Q: it waits. G: it is unknown. A
  -- record that has outlived its object holds, because waiters lost their records when the object was disposed of.
  local function state(record)
    if not record then return 'G' end
    local key, ticket, n, name = parts(record)
    local o = get(name)
    local lent, waiting = 0, 0
    if lives(o, ticket) then
      if o.waiting > 0 and entry_of(name, ticket) then return 'Q' end
      if o.holder == key then
        compare()
        -- The lost end of an earlier history may have granted a larger token. So a mutex that was granted in an earlier
        -- history is passed on no more. (A grant with a renewed ticket looks the same and is passed on no more either,
        -- although a pass would be harmless.)
        if ticket > leapt then lent = o.lent end
      end
      waiting = o.waiting
    end
    local deaths = call('HGET', OBJECTS, name .. '\0' .. ticket) or 0
    return 'H ' .. ticket .. ':' .. deaths .. ':' .. lent .. ':' .. waiting .. ':' .. n
  end

  -- Takes a request away, whether it waits or holds. died: whether its session has died.
  local function drop(record, died)
    if call('ZREM', RECORDS, record) == 0 then -- another drop of this call has granted it, under a new ticket
      record = record_of((parts(record)))
      if not record then return end -- another drop has turned it away
      call('ZREM', RECORDS, record)
    end
    local key, ticket, n, name = parts(record)
    call('HDEL', META, key)
    local o = get(name)
    if not lives(o, ticket) then
      restore(name, nil, ticket)
      return
    end
    local entry = o.waiting > 0 and entry_of(name, ticket)
    if entry then
      call('ZREM', QUEUE, entry)
      o.waiting = o.waiting - 1
    else
      o.free = o.free + n
      if o.robust == '1' then
        restore(name, o, ticket)
        if died then o.deaths = o.deaths + 1 end
      end
      if o.holder == key then end_turn(o, o.lent) end
    end
    grant(name, o)
  end

  -- The caller has passed its mutex on to a request of its own, so the request leaves the queue. If an earlier object of
  -- the name was disposed of before the caller knew, the request may hold that object. Then the request is dropped.
  local function take_off(name, o, record)
    local _, ticket, _, of = parts(record)
    local entry = entry_of(name, ticket)
    if entry then
      call('ZREM', QUEUE, entry)
      call('ZREM', RECORDS, record)
      o.waiting = o.waiting - 1
    elseif of == name and not lives(o, ticket) then
      drop(record, false)
    end
  end
  -- end: queue

  local made = {
    entry_of = entry_of, lend = lend, tell = tell, grant = grant, restore = restore, state = state, take_off = take_off,
    drop = drop,
  }

  -- Returns all operations except A, D and T, by their letters.
  made.operations = function()
    -- part: sessions
    -- Sessions: their signs of life, and what becomes of dead sessions. A part of `operations`.
    --
    --     O, B, W: a sign of life --> it gets a ticket, which the answer tells the process
    --     0.9 of a lease later, by the process's own clock: the next sign of the process names this ticket as `seen`
    --     each session that has given no sign since `seen` is dead: `reap` takes back what it holds and clears its waiters
    --
    -- No clock of the server decides that a session is dead, because a clock may jump. If the clock jumps forward by an
    -- hour while nothing happens, this looks like an hour in which nothing happens. So the time decides that another
    -- process has lived through.
    --
    -- Why no live session counts as dead: the live process counts from the moment when it sent its last sign that was
    -- answered, and gives up what it holds 0.85 of a lease later. There are two cases. If the server got this sign after it
    -- gave the ticket `seen`, the sign has a larger ticket, and the session is alive for `reap`. If it got the sign before,
    -- then 0.9 of a lease has passed since the sign, because the watcher has lived through this time. So the live process
    -- has given up. No clock that somebody can set takes part in this argument, and a watcher that stands still is only
    -- late. Signs that came after a ticket may be lost with their history, so a ticket of another history counts for
    -- nothing.
    --
    -- Why a dead session is found: a process with a session gives ten signs a lease if it holds or waits, and six if it is
    -- idle. So it finds a dead session at the latest 1.1 or 1.25 of a lease after the last sign of that session. A process
    -- that lives for a shorter time sees too little. So the server notes TIME where it can do no harm, see `note`. A
    -- process that enters may find that, by TIME, a session has been silent for a lease. Then the answer is Z, and the
    -- process watches for 0.9 of a lease before it gets its session. If the clock has jumped, the process has waited in
    -- vain, and nobody has lost anything.

    local SEQS_OF_A_CONNECTION = 4294967296

    -- Takes requests of a session away. Returns whether it certainly has taken all.
    local function clear(victim, died)
      local records = call('ZRANGEBYLEX', RECORDS, '[' .. victim, '(' .. victim .. 'g', 'LIMIT', 0, math.max(work, 0))
      for _, record in ipairs(records) do drop(record, died) end
      work = work - #records
      return work > 0
    end

    -- Takes a session out of the list of those that exist.
    local function unlist(victim)
      local known = call('HGET', SESSIONS, victim)
      if not known then return end
      call('HDEL', SESSIONS, victim)
      call('HINCRBY', META, 'reads' .. match(known, '^%d+ (%d+)'), -1)
    end

    -- Whether a session cannot read what a process writes in a new format. v: the format of the data, which all sessions
    -- can read.
    local function is_unread(v, writes)
      for format = v, writes - 1 do
        local count = call('HGET', META, 'reads' .. format)
        if count and count ~= '0' then return true end
      end
      return false
    end

    -- Forgets a session whose requests are all gone.
    local function forget(victim)
      call('ZREM', LEASES, victim)
      call('HDEL', SEQS, victim)
      gone[victim] = true
    end

    -- Takes the waiters of a name out of the queue, up to a ticket. Returns whether some are left.
    local function expel(name, o, why, up_to)
      touch(name, o)
      while o.waiting > 0 do
        local entry = head_of(name)
        local left = sub(entry, -73, -60) <= up_to
        if not left or work <= 0 then
          grant(name, o)
          return left
        end
        turn_away(name, o, entry, why)
      end
    end

    local function fix(o)
      o.fixed = format('%s %d %s %s %s', o.kind, o.max, o.robust, o.ephemeral, o.born)
    end

    -- A semaphore gets another number of permits. Holders keep what they hold, and nobody is admitted until there is room.
    local function resize(name, o, max)
      o.kind, o.free, o.max, o.lent = 'r', o.free + max - o.max, max, max
      fix(o)
      grant(name, o)
    end

    -- The arguments name rid ticket sid say what a session holds. Returns its record, or a false value if the session does
    -- not hold this.
    local function held_by(i)
      local name, ticket = ARGV[i], ARGV[i + 2]
      local first = ARGV[i + 3] .. ARGV[i + 1] .. ticket
      local record = call('ZRANGEBYLEX', RECORDS, '[' .. first, '(' .. first .. 'g', 'LIMIT', 0, 1)[1]
      return record and sub(record, 49) == name and lives(get(name), ticket) and not entry_of(name, ticket) and record
    end

    -- The present history of the data, as epoch.history. The epoch alone does not tell two histories apart: two replicas
    -- that lack the same last writes get the same epoch when they are promoted.
    local function place()
      local meta = call('HMGET', META, 'epoch', 'history')
      return meta[1] .. '.' .. meta[2]
    end

    -- Takes back what dead sessions hold: those that have given no sign of life since the ticket `seen`. The caller was
    -- told this ticket, with its history, at least 0.9 of a lease ago. `seen` is - if there is no such ticket. Returns
    -- whether `seen` counts, because it is of the present history, and whether dead sessions may be left.
    local function reap(seen)
      compare()
      if sub(seen, 16) ~= place() then return false, false end
      local dead = call('ZRANGEBYSCORE', LEASES, '-inf', tonumber(sub(seen, 1, 14), 16), 'LIMIT', 0, 4)
      for _, victim in ipairs(dead) do
        unlist(victim)
        if not clear(victim, true) then return true, true end
        forget(victim)
      end
      return true, #dead == 4
    end

    -- Returns the session that has been silent for longest, and notes since when, by TIME, it is this session.
    local function note()
      local first = call('ZRANGEBYSCORE', LEASES, '-inf', '+inf', 'LIMIT', 0, 1)[1]
      if first and (first == sid or first ~= call('HGET', META, 'first')) then
        call('HSET', META, 'first', first, 'since', now())
      end
      return first
    end

    -- Notes a sign of life of the caller. Returns the ticket of this sign.
    local function renew_lease()
      local ticket = next_ticket()
      call('ZADD', LEASES, tonumber(ticket, 16), sid)
      call('HSET', META, 'beaten', format('%011x', now()))
      return ticket
    end

    -- Goes on with the grants of one object that are left. Returns whether there were any.
    local function go_on()
      local left = call('ZRANGEBYLEX', QUEUE, '[\0', '(\1', 'LIMIT', 0, 1)[1]
      if not left then return false end
      call('ZREM', QUEUE, left)
      local name = sub(left, 2)
      local o = get(name)
      if o then grant(name, o) end
      return true
    end

    -- B seen, W seen: a beat. Renews the caller's lease, and takes back what dead sessions hold. W comes from a connection
    -- whose replies nobody searches for grants: the connection of a heartbeat thread, or the one that waits for replicas.
    -- So after W the caller gets its grants by messages. Answer: B seq left ticket epoch.history. left: 1 if there may be
    -- more to do. The history is in the answer because a connection may outlive a failover.
    local function beat(i)
      call('ZREM', LEASES, '')
      local ticket = renew_lease()
      local goes_on = go_on()
      local _, left = reap(ARGV[i])
      note()
      return 'B ' .. call('HGET', SEQS, sid) .. ((left or goes_on) and ' 1 ' or ' 0 ') .. ticket .. ' ' .. place(), i + 1
    end
    -- end: sessions

    -- part: operations
    -- All operations except A, D and T, by their letters. Each operation takes its arguments from ARGV[i] on. It returns
    -- its answer and the index of the next operation. An answer without an index ends the call. wire.ts writes the calls
    -- and reads the answers.
    --
    --   sessions    O opens or resumes a session, B and W beat, U names held requests, X ends it, S asks after a loss
    --   objects     N opens or makes an object, R resizes it, K disposes of it, L cancels its waiters
    --   requests    C gives a request up, V asks whether it is held, F takes its permits away by force
    --   to look     I tells one object, P all objects, J the sessions

    return {
      -- O formats p lease label seen topmost: opens the session (conn 0), or resumes it by a new connection. formats: the
      -- format in which the process writes the data, or this format, a hyphen and the last format that it can read. Answers:
      --   O ticket epoch.history           the session is open
      --   V v p lease                      the process cannot read the format v of the data, or a session cannot read what
      --                                    the process writes, or the other sessions agree on other settings
      --   Z lease ticket epoch.history     a session is silent. The caller has to ask again when the ticket is old enough
      --                                    to be `seen`, or at once if it is already old enough
      -- A caller names here only a ticket `seen` of which it was told at most a lease ago. So if `seen` counts, each session
      -- that is left has given a sign of life within about a lease, whatever TIME says, and there is nothing to watch for.
      O = function(i)
        local formats, p, lease, label, seen = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]
        local writes, reads = tonumber(match(formats, '^%d+')), tonumber(match(formats, '(%d+)$'))
        topmost = tonumber(ARGV[i + 5], 16)
        local known = call('HGET', SESSIONS, sid)
        if conn == '0' then
          -- If an ACL forbids one of the script's commands, the call fails here, before anything of the session is written,
          -- and not in the middle of a later call.
          call('ZRANGEBYLEX', QUEUE, '[\0', '(\1', 'LIMIT', 0, 1)
          local asked = call('ZCARD', RECORDS) > 0
          now()
          call('HINCRBY', META, 'ticket', 0)
          call('ZREM', RECORDS, '')
          call('HDEL', OBJECTS, '')
          call('ZADD', RECORDS, 'XX', 0, '')
          call('HSCAN', META, 0)
          -- Sessions of format 1 give their signs of life in another way: to `reap`, all of them could seem dead. So nothing
          -- of this data is touched.
          if writes > 1 and call('HGET', META, 'v') == '1' and call('ZCARD', LEASES) > 0 then
            local theirs = call('HMGET', META, 'p', 'lease')
            return 'V 1 ' .. theirs[1] .. ' ' .. theirs[2], #ARGV + 1
          end
          local counts, left = reap(seen)
          local first = note()
          local agreed = call('HMGET', META, 'v', 'p', 'lease', 'since')
          local v = tonumber(agreed[1] or writes)
          if agreed[1] then
            local differs = agreed[2] ~= p or reads < v
            local waits = first and (agreed[3] ~= lease or is_unread(v, writes))
            local silence = first and now() - tonumber(agreed[4])
            if left or not differs and first and not counts and (asked or waits)
              and (silence < 0 or silence >= tonumber(agreed[3])) then
              return 'Z ' .. agreed[3] .. ' ' .. (left and seen or next_ticket() .. ' ' .. place()), #ARGV + 1
            end
            if differs or waits then return 'V ' .. agreed[1] .. ' ' .. agreed[2] .. ' ' .. agreed[3], #ARGV + 1 end
          end
          call('HSET', META, 'v', math.max(v, writes), 'p', p, 'lease', lease)
          if not known then call('HINCRBY', META, 'reads' .. reads, 1) end
        elseif not known then
          return 'DEAD'
        elseif tonumber(match(known, '^%d+')) > tonumber(conn) then
          return 'STALE'
        else
          call('ZREM', RECORDS, '') -- so that the session can resume even if memory is full
        end
        local ticket = renew_lease()
        call('HSET', SESSIONS, sid, conn .. ' ' .. reads .. ' ' .. label)
        call('HSET', SEQS, sid, format('%.0f', tonumber(conn) * SEQS_OF_A_CONNECTION))
        note()
        return 'O ' .. ticket .. ' ' .. place(), i + 6
      end,

      -- N name kind max robust ephemeral bypass: opens an object, or makes it. kind r: the caller knows that the semaphore
      -- was resized. If the server has lost the resize, it learns the number again. Answers: N born. N born max: the
      -- semaphore was resized. E and the settings: the object exists with other settings.
      N = function(i)
        local name, kind, max, robust, ephemeral, bypass =
          ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4], ARGV[i + 5]
        local o = get(name)
        if not o then
          o = {
            kind = kind, max = tonumber(max), robust = robust, ephemeral = ephemeral, born = next_ticket(),
            free = tonumber(max), waiting = 0, deaths = 0, bypass = 0,
          }
          fix(o)
          if kind == 'm' then
            o.bypass, o.passes, o.lent, o.noticed, o.holder = tonumber(bypass), 0, 0, '0', '-'
          end
          objects[name] = o
          touch(name, o)
        else
          local both = o.kind .. kind
          local resized = both == 'rs' or both == 'sr' or both == 'rr'
          if not resized and (o.kind ~= kind or o.max ~= tonumber(max)) or o.robust ~= robust or o.ephemeral ~= ephemeral
            or o.bypass ~= tonumber(bypass) then
            return 'E ' .. o.kind .. ' ' .. o.max .. ' ' .. o.robust .. ' ' .. o.ephemeral .. ' ' .. o.bypass, i + 6
          end
          if both == 'sr' then resize(name, o, tonumber(max)) end
        end
        return 'N ' .. o.born .. (o.kind == 'r' and ' ' .. o.max or ''), i + 6
      end,

      -- R name born max: resizes a semaphore. Answers: R. X: there is no such semaphore.
      R = function(i)
        local name, born = ARGV[i], ARGV[i + 1]
        local o = get(name)
        if not o or (born ~= '-' and born ~= o.born) or o.kind ~= 's' and o.kind ~= 'r' then return 'X', i + 3 end
        resize(name, o, tonumber(ARGV[i + 2]))
        return 'R', i + 3
      end,

      -- C rid: gives a request up. Answers: C: it has left the queue. H...: it holds its permits after all. G: it is
      -- unknown.
      C = function(i)
        local record = record_of(sid .. ARGV[i])
        local now = state(record)
        if now == 'Q' then
          drop(record, false)
          now = 'C'
        end
        return now, i + 1
      end,

      -- S from upTo count rid...: asks after a loss. Tells the states of the listed requests. Drops all other requests of
      -- the caller in a range: behind the place `from` (the number of a request and g, or '' for the beginning) up to the
      -- number upTo. The answer begins with s instead of S if not all of these are dropped yet.
      S = function(i)
        local from, up_to, count = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2])
        local last = i + 3
        local wanted = {}
        for s = last, last + count - 1 do wanted[sid .. ARGV[s]] = true end
        local records = call('ZRANGEBYLEX', RECORDS, '[' .. sid .. from, '(' .. sid .. up_to .. 'g',
          'LIMIT', 0, MOST_FOUND)
        for _, record in ipairs(records) do
          if not wanted[sub(record, 1, 26)] then drop(record, false) end
        end
        compare()
        local states = { (#records < MOST_FOUND and 'S ' or 's ') .. call('HGET', SEQS, sid) .. ' ' .. place() }
        for s = last, last + count - 1 do states[#states + 1] = state(record_of(sid .. ARGV[s])) end
        return states, last + count
      end,

      B = beat,

      W = function(i)
        caller = ''
        return beat(i)
      end,

      -- U count rid...: goes with a beat, and names some held requests of the caller that no beat has named yet. The server
      -- notes the present time as the time since when they are held, for `I`. Most requests are given back before a beat
      -- names them, and cost nothing. Answer: U.
      U = function(i)
        local last = i + tonumber(ARGV[i])
        for s = i + 1, last do
          local key = sid .. ARGV[s]
          if sub(state(record_of(key)), 1, 1) ~= 'H' then
            call('HDEL', META, key)
          elseif not call('HGET', META, key) then
            call('HSET', META, key, format('%.0f', now()))
          end
        end
        return 'U', last + 1
      end,

      -- X: ends the session. All that it holds goes back, and its requests leave the queues. Answers: X. +: something is
      -- left, and the session still exists.
      X = function(i)
        if not clear(sid, false) then return '+', i end
        unlist(sid)
        forget(sid)
        note()
        return 'X', i
      end,

      -- V name rid ticket sid: asks whether a session still holds this. Answers: 1 or 0.
      V = function(i)
        return held_by(i) and '1' or '0', i + 4
      end,

      -- F name rid ticket sid: takes a hold away by force, as if its holder had died, and tells the holder. Answers as V.
      F = function(i)
        local record = held_by(i)
        if record then
          tell(ARGV[i + 3], ARGV[i + 1] .. ':r')
          drop(record, true)
        end
        return record and '1' or '0', i + 4
      end,

      -- P cursor: tells a part of the objects. Answer: the cursor with which to go on, and for each object name NUL fixed
      -- free waiting deaths...
      P = function(i)
        local found = call('HSCAN', OBJECTS, ARGV[i], 'COUNT', MOST_FOUND)
        local lines, all = { found[1] }, found[2]
        for at = 1, #all / 2 do
          local name = all[2 * at - 1]
          if not string.find(name, '\0', 1, true) then lines[#lines + 1] = name .. '\0' .. all[2 * at] end
        end
        return lines, i + 1
      end,

      -- L name born upTo: cancels the waiters up to the ticket upTo, or all present waiters if upTo is -. Answers: L. L
      -- upTo: some are left. X: there is no such object.
      L = function(i)
        local name, born, up_to = ARGV[i], ARGV[i + 1], ARGV[i + 2]
        local o = get(name)
        if not o or (born ~= '-' and born ~= o.born) then return 'X', i + 3 end
        if up_to == '-' then up_to = format('%014x', call('HGET', META, 'ticket')) end
        return expel(name, o, 'c', up_to) and 'L ' .. up_to or 'L', i + 3
      end,

      -- K name born: disposes of the object, and tells its waiters. Holders keep what they hold; what they give back
      -- belongs to no object then. Answers: K. +: some requests still wait, and the object still exists. X: there is no
      -- such object.
      K = function(i)
        local name, born = ARGV[i], ARGV[i + 1]
        local o = get(name)
        if not o or (born ~= '-' and born ~= o.born) then return 'X', i + 2 end
        if expel(name, o, 'x', 'g') then return '+', i + 2 end
        objects[name] = false
        call('HDEL', OBJECTS, name)
        return 'K', i + 2
      end,

      -- I name limit place from: tells an object. Answer: its state; the first `limit` entries of its queue from `place`
      -- on; its holders among the first records from `from` on; the place from where to go on, or ''; sid conn reads label of
      -- the sessions of all these; the times since when the holders hold, each or ''; the present time. X: there is no such
      -- object. If all permits are free, no record is read.
      I = function(i)
        local name, limit, place, from = ARGV[i], tonumber(ARGV[i + 1]), ARGV[i + 2], ARGV[i + 3]
        local o = get(name)
        if not o then return 'X', i + 4 end
        local text = format('I %s %d %d %d %d', o.fixed, o.free, o.waiting, o.deaths, o.bypass)
        local queue = call('ZRANGEBYLEX', QUEUE, '[' .. name .. '\0' .. place, '(' .. name .. '\1', 'LIMIT', 0, limit)
        local holders = {}
        local records = {}
        if limit > 0 and o.free < o.max then
          if o.kind ~= 'm' then
            records = call('ZRANGEBYLEX', RECORDS, '[' .. from, '+', 'LIMIT', 0, MOST_FOUND)
          elseif from == '' then
            records = { record_of(o.holder) }
          end
        end
        for _, record in ipairs(records) do
          local _, ticket, _, of = parts(record)
          if of == name and lives(o, ticket) and not entry_of(name, ticket) then holders[#holders + 1] = record end
        end
        local sessions, known, times = {}, {}, {}
        local function name_session(of)
          if known[of] then return end
          known[of] = true
          sessions[#sessions + 1] = of .. ' ' .. (call('HGET', SESSIONS, of) or '')
        end
        for _, entry in ipairs(queue) do name_session(sub(entry, -59, -44)) end
        for at, record in ipairs(holders) do
          name_session(sub(record, 1, 16))
          times[at] = call('HGET', META, sub(record, 1, 26)) or ''
        end
        local behind = #records == MOST_FOUND and sub(records[MOST_FOUND], 1, 26) .. 'g' or ''
        return { text, queue, holders, behind, sessions, times, format('%.0f', now()) }, i + 4
      end,

      -- J from: tells the sessions from the score `from` on. Answer: epoch, history, last ticket, and the score from where
      -- to go on, or -; then sid conn reads label of each session.
      J = function(i)
        local meta = call('HMGET', META, 'epoch', 'history', 'ticket')
        local all = call('ZRANGEBYSCORE', LEASES, ARGV[i], '+inf', 'WITHSCORES', 'LIMIT', 0, MOST_FOUND)
        local lines = { '' }
        for at = 1, #all / 2 do
          local each = all[2 * at - 1]
          lines[#lines + 1] = each .. ' ' .. (call('HGET', SESSIONS, each) or 'dead')
        end
        local behind = #lines > MOST_FOUND and '(' .. all[#all] or '-'
        lines[1] = 'J ' .. meta[1] .. ' ' .. meta[2] .. ' ' .. meta[3] .. ' ' .. behind
        return lines, i + 1
      end,
    }
    -- end: operations
  end

  rest = function() return made end
  return made
end

-- part: call
-- The call. First comes the check that the session may call at all. Then the operations run in order. Then the objects
-- that have changed are written. At last, sessions are told their news: other sessions by messages, the caller in the
-- reply.

-- A call of a session that has ended, or of a connection that has been replaced, does nothing.
if ARGV[4] ~= 'O' then
  local known = call('HGET', SESSIONS, sid)
  if not known then return { 'DEAD' } end
  if sub(known, 1, #conn + 1) ~= conn .. ' ' then return { 'STALE' } end
end

local answers = {}
local others
local i, last = 4, #ARGV
while i <= last do
  local operation, answer = ARGV[i], nil
  if operation == 'A' then
    answer, i = ask(i + 1, true)
  elseif operation == 'D' then
    answer, i = give_back(i + 1)
  elseif operation == 'T' then
    answer, i = ask(i + 1, false)
  else
    others = others or rest().operations()
    answer, i = others[operation](i + 1)
  end
  answers[#answers + 1] = answer
  if not i then return answers end
end

for _, name in ipairs(changed) do write(name) end
for _, to in ipairs(told) do
  if not gone[to] then
    local seq = call('HINCRBY', SEQS, to, 1)
    local command = sub(to, 1, 1) == 's' and 'SPUBLISH' or 'PUBLISH'
    redis.pcall(command, channel .. to, format('%.0f', seq) .. ';' .. table.concat(tellings[to], ','))
  end
end
for _, text in ipairs(own) do answers[#answers + 1] = text end
return answers
-- end: call
