-- turn: the one script of taketurns-valkey. A call carries the operations of one session, in the order of its program.
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
-- A request of which there is a record and no entry in the queue is held. After each call:
--   I1  free + the permits of all held records = max, for each object      I2  an entry of the queue has its record
--   I3  waiting = the entries of the name                                  I4  nobody waits, or the head's n > free, or
--       grants of the name are noted as left
--   I5  the grants of an object are in the order of tickets                I6  a grant was told to its session: in the
--       reply to its own call, or in a message with the session's next number
--
-- Leases. No clock of the server decides that a session is dead, for a clock may jump: by an hour while nothing happens, it
-- looks as an hour does in which nothing happened. What decides is the time that somebody has lived through. Each sign of
-- life (O, B, W) takes a ticket, and the answer tells it. A process notes, by its own monotonic clock, when the answer came.
-- When 0.75 of a lease has passed since, it names that ticket with its next sign of life: whoever has given none since the
-- ticket is dead, see `reap`.
--
--   Why no live one is taken for dead. It counts from when it sent the last sign that was answered, and gives up 0.7 of a
--   lease later. If the server got that sign after the ticket was told, the sign has a larger ticket. If before, then 0.75 of
--   a lease has passed since, as the watcher has lived through it, and the live one has given up. No clock that is set is
--   part of that, and a watcher that stands still is only later. Signs that came after a ticket may be lost with their
--   history, so a ticket of another history tells nothing.
--   Why a dead one is found. Who has a session gives four signs a lease, and so finds who is dead by 1.25 of a lease after
--   that one's last sign. Who lives for less sees too little. So TIME is noted where it cannot harm, see `note`: who comes
--   where somebody has been silent for a lease by TIME is answered Z, and watches for 0.75 of a lease before it gets its
--   session. If the clock has jumped, it has waited in vain, and nobody has lost anything.
--
-- No call takes the server long, whatever there is. Who asks for much at once is answered that something is left, and asks
-- again: S, X, L, K, I, J, P. Grants that are left are noted as an entry NUL name of the queue, and go on with the next beat, of
-- whoever beats first; the caller is told `+`, and beats at once. Until then the head of that queue waits though it might be
-- served (I4), and so do all behind it. So if the caller dies in between, nothing is lost but a quarter of a lease.
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

-- Objects ------------------------------------------------------------------------------------------------------------

-- fixed: the words that do not change, kind to born. kind: s, m, w (semaphore, mutex, rwlock). born: the ticket at its
-- making; a record with a smaller one belongs to an earlier object of the name. deaths: of owners, since the last grant.
-- kind r: a semaphore that was resized. Who opens it need not know how many permits it has, and is told. free is less than 0
-- while more are held than there are.
-- Of a mutex besides, see `lend`: bypass; passes, which were lent or counted so far; lent, to the holder (sid rid, or -);
-- noticed, whether the holder knows of others.
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

-- Tickets ------------------------------------------------------------------------------------------------------------

local time -- in milliseconds, once the call has asked for it
local beaten -- The time of the last beat, as 11 digits. Known once `compare` was called.
local leapt -- Tickets up to it were given in an earlier history. Known once `compare` was called.
local topmost = 0 -- the last ticket of which the caller has been told, as it says with `O`

local function now()
  if not time then
    local both = call('TIME')
    time = tonumber(both[1]) * 1000 + math.floor(tonumber(both[2]) / 1000)
  end
  return time
end

-- The server's replication id changes when it is promoted or restarted, and when its first replica comes. It may then have
-- lost tickets that were given. So tickets leap to where the time is: all that were lost lie before, unless the clock was
-- set back. If the time is behind, they leap past 2^24 lost ones. A process that comes says which is the largest ticket that
-- it was told, and if the server has given none as large, tickets leap past that too. Between the tickets that may be lost
-- and the new ones there is room for those that now wait, see `renew`. Where INFO is forbidden, no other history is known of.
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
    call('ZREM', RECORDS, '') -- what comes next may be a return, which must not fail where memory is full
    call('HSET', META, 'history', history, 'leapt', leapt, 'late', format('%.0f', late), 'ticket', format('%.0f', ticket))
    if history ~= meta[1] then call('HINCRBY', META, 'epoch', 1) end
  end
end

local function next_ticket()
  compare()
  return format('%014x', call('HINCRBY', META, 'ticket', 1))
end

-- Requests -----------------------------------------------------------------------------------------------------------

-- key: sid rid
local function record_of(key)
  return call('ZRANGEBYLEX', RECORDS, '[' .. key, '(' .. key .. 'g', 'LIMIT', 0, 1)[1]
end

local rest -- makes the functions that a call needs only where somebody waits, dies, or asks for something seldom

-- Whether the object is the one for which the ticket was given. Both have 14 digits, and so sort as strings.
local function lives(o, ticket)
  return o and ticket > o.born
end

-- A request gets its permits. Returns what its process is told: ticket:deaths:lent:waiting. lent: of a semaphore that was
-- resized, how many permits there are.
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

-- Operations: each takes its arguments from ARGV[i] on, and returns its answer and where the next operation stands -----

-- A name born rid n: asks for permits, and queues if they are not to be had at once. born: - for whichever object.
-- T name born rid n: asks, and does not queue. Answers: H... it holds; Q length, it waits in a queue of so many; R not at
-- once (T); X there is no such object; M max, there are never so many.
local function ask(i, queues)
  local name, born, rid, hex = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  local known = record_of(sid .. rid)
  if known then return rest().state(known), i + 4 end -- a client has sent it twice
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

-- The holder of a mutex gives it back. used: how many passes it has used, at most what it was lent.
local function end_turn(o, used)
  o.passes = o.passes + math.min(used, o.lent)
  o.lent, o.noticed, o.holder = 0, '0', '-'
end

-- D name rid ticket n k note passes count rid...: gives k of the n permits of a held request back. note: - nothing, c
-- clears the deaths that it was told, r restores them, d restores them and counts a death: the holder has lost its
-- lease. s behind it: the session held it at a beat. passes: how often it has passed the mutex on, and to which requests that waited. Answers: D done; G the request is
-- unknown, or it waits.
local function give_back(i)
  local name, rid, ticket, hex, note = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 5]
  local k, passes, count = tonumber(ARGV[i + 4]), tonumber(ARGV[i + 6]), tonumber(ARGV[i + 7])
  local last = i + 8
  local key = sid .. rid
  local o = get(name)
  if o and o.waiting > 0 then
    compare()
    -- A failover that the caller has not noticed may have taken the grant back: then it waits.
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
    -- The mutex was passed on to requests that have come to the next object of the name.
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

-- To make a function takes about as long as to call one. So those that most calls do not need are made when a call first
-- needs one of them: `rest` those for who waits, `operations` the other operations.
rest = function()
  -- sid..rid, ticket, n, name
  local function parts(record)
    return sub(record, 1, 26), sub(record, 27, 40), tonumber(sub(record, 41, 48), 16), sub(record, 49)
  end

  -- The entry in the queue of a request, or nil.
  local function entry_of(name, ticket)
    local key = name .. '\0' .. ticket
    return call('ZRANGEBYLEX', QUEUE, '[' .. key, '(' .. key .. 'z', 'LIMIT', 0, 1)[1]
  end

  local function head_of(name)
    return call('ZRANGEBYLEX', QUEUE, '[' .. name .. '\0', '(' .. name .. '\1', 'LIMIT', 0, 1)[1]
  end

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

  -- How often the new holder of a mutex may pass it on within its process. A waiter is overtaken by passes alone. When it
  -- came, `passes` was its p0, and at most one turn was under way, with at most `bypass` passes. Every later turn while it
  -- waits begins with passes + lent <= p0 of the eldest + bypass, and the eldest came no later. So passes never exceeds
  -- its p0 + bypass. What is left of that is shared among those who wait: lent whole, all of it would go to the first process
  -- in line, and the others would have no passes until their waiters are through. A long line may be of one process, so a
  -- turn gets 1 part in 64 at least.
  local function lend(name, o, key)
    local eldest = head_of(name)
    local lent = math.ceil((o.bypass - (o.passes - tonumber(sub(eldest, -25, -12), 16))) / math.min(o.waiting, 64))
    o.lent = math.max(0, math.min(MOST_LENT, lent))
    if sub(eldest, -59, -44) ~= sub(key, 1, 16) then o.noticed = '1' end
  end

  -- The ticket under which a request is granted that has waited. Where it has waited since an earlier history, the lost part
  -- of that may have granted larger ones. It then gets one of those between the lost ones and the new ones, in its record too.
  local function renew(name, entry)
    local ticket, key, n = sub(entry, -73, -60), sub(entry, -59, -34), sub(entry, -33, -26)
    compare()
    if ticket > leapt then return ticket end
    call('ZREM', RECORDS, key .. ticket .. n .. name)
    ticket = format('%014x', call('HINCRBY', META, 'late', 1))
    call('ZADD', RECORDS, 0, key .. ticket .. n .. name)
    return ticket
  end

  -- A waiter leaves the queue, and its process hears why: x disposed, c cancelled, m and a number: there are only so many
  -- permits.
  local function turn_away(name, o, entry, why)
    local ticket, to, rid, n = sub(entry, -73, -60), sub(entry, -59, -44), sub(entry, -43, -34), sub(entry, -33, -26)
    work = work - 1
    o.waiting = o.waiting - 1
    call('ZREM', QUEUE, entry)
    call('ZREM', RECORDS, to .. rid .. ticket .. n .. name)
    tell(to, rid .. ':' .. why)
  end

  -- Grants while the head can be served. Called after every change that could make the head due. One that asks for more
  -- than there are since a resize is turned away when it is the head.
  local function grant(name, o)
    touch(name, o)
    while o.waiting > 0 do
      local entry = head_of(name)
      local n = tonumber(sub(entry, -33, -26), 16)
      if n > o.free and n <= o.max then return end -- the head waits, and so do all behind it
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

  -- Deaths of which a holder has been told and which nobody has repaired go to the next one.
  local function restore(name, o, ticket)
    local note = name .. '\0' .. ticket
    local deaths = call('HGET', OBJECTS, note)
    if deaths then
      call('HDEL', OBJECTS, note)
      if o then o.deaths = o.deaths + tonumber(deaths) end
    end
  end

  -- What a request of the caller is: H ticket:deaths:lent:waiting:n holds, Q waits, G unknown. A record that has outlived
  -- its object is held: who waited lost it when the object was disposed of.
  local function state(record)
    if not record then return 'G' end
    local key, ticket, n, name = parts(record)
    local o = get(name)
    local lent, waiting = 0, 0
    if lives(o, ticket) then
      if o.waiting > 0 and entry_of(name, ticket) then return 'Q' end
      if o.holder == key then
        compare()
        -- A lost history may have granted a larger token. So one from before is passed on no more. (Nor is one that was
        -- renewed, which cannot be told from it, and would be harmless.)
        if ticket > leapt then lent = o.lent end
      end
      waiting = o.waiting
    end
    local deaths = call('HGET', OBJECTS, name .. '\0' .. ticket) or 0
    return 'H ' .. ticket .. ':' .. deaths .. ':' .. lent .. ':' .. waiting .. ':' .. n
  end

  -- Takes a request away, whether it waits or holds. died: its session has died.
  local function drop(record, died)
    if call('ZREM', RECORDS, record) == 0 then -- the end of another has granted it meanwhile, under a new ticket
      record = record_of((parts(record)))
      if not record then return end -- or has turned it away
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

  -- A request to which the caller has passed its mutex leaves the queue. It may hold an earlier object of the name, if that
  -- was disposed of before its caller knew.
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

  local made = {
    entry_of = entry_of, lend = lend, tell = tell, grant = grant, restore = restore, state = state, take_off = take_off,
    drop = drop,
  }

  -- All other operations, by their letters.
  made.operations = function()
    local SEQS_OF_A_CONNECTION = 4294967296

    -- Takes requests of a session away. Returns whether none is left.
    local function clear(victim, died)
      local records = call('ZRANGEBYLEX', RECORDS, '[' .. victim, '(' .. victim .. 'g', 'LIMIT', 0, math.max(work, 0))
      for _, record in ipairs(records) do drop(record, died) end
      work = work - #records
      return work > 0
    end

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

    -- A semaphore gets another number of permits. Who holds goes on, and nobody is admitted until there is room.
    local function resize(name, o, max)
      o.kind, o.free, o.max, o.lent = 'r', o.free + max - o.max, max, max
      fix(o)
      grant(name, o)
    end

    -- The record of what a session says that it holds: name rid ticket sid. Nothing if it does not hold it.
    local function held_by(i)
      local name, ticket = ARGV[i], ARGV[i + 2]
      local first = ARGV[i + 3] .. ARGV[i + 1] .. ticket
      local record = call('ZRANGEBYLEX', RECORDS, '[' .. first, '(' .. first .. 'g', 'LIMIT', 0, 1)[1]
      return record and sub(record, 49) == name and lives(get(name), ticket) and not entry_of(name, ticket) and record
    end

    -- Which history this is: epoch.history. Two failovers to copies that fell behind at once have the same epoch.
    local function place()
      local meta = call('HMGET', META, 'epoch', 'history')
      return meta[1] .. '.' .. meta[2]
    end

    -- Takes back what the dead hold: those that have given no sign of life since the ticket `seen`, which the caller was
    -- told, with its history, 0.75 of a lease ago or earlier; - for none. Returns whether it counts, and whether they may
    -- hold more.
    local function reap(seen)
      compare()
      if sub(seen, 16) ~= place() then return false, false end
      local dead = call('ZRANGEBYSCORE', LEASES, '-inf', tonumber(sub(seen, 1, 14), 16), 'LIMIT', 0, 4)
      for _, victim in ipairs(dead) do
        call('HDEL', SESSIONS, victim)
        if not clear(victim, true) then return true, true end
        forget(victim)
      end
      return true, #dead == 4
    end

    -- Notes since when, by TIME, the session that is silent for longest is that. Returns it.
    local function note()
      local first = call('ZRANGEBYSCORE', LEASES, '-inf', '+inf', 'LIMIT', 0, 1)[1]
      if first and (first == sid or first ~= call('HGET', META, 'first')) then
        call('HSET', META, 'first', first, 'since', now())
      end
      return first
    end

    -- The caller lives. Returns the ticket of this sign.
    local function renew_lease()
      local ticket = next_ticket()
      call('ZADD', LEASES, tonumber(ticket, 16), sid)
      call('HSET', META, 'beaten', format('%011x', now()))
      return ticket
    end

    -- Goes on with grants that are left. Returns whether there were some.
    local function go_on()
      local left = call('ZRANGEBYLEX', QUEUE, '[\0', '(\1', 'LIMIT', 0, 1)[1]
      if not left then return false end
      call('ZREM', QUEUE, left)
      local name = sub(left, 2)
      local o = get(name)
      if o then grant(name, o) end
      return true
    end

    -- B seen, W seen: a beat. Renews the caller's lease, and takes back what the dead hold. W comes from a connection whose
    -- reply nobody reads for grants: one that only beats, or one that confirms. So the caller's grants go to it by message. A
    -- connection may outlive a failover, so the answer says which history this is: B seq left ticket epoch.history. left: 1
    -- if there may be more to do.
    local function beat(i)
      call('ZREM', LEASES, '')
      local ticket = renew_lease()
      local goes_on = go_on()
      local _, left = reap(ARGV[i])
      note()
      return 'B ' .. call('HGET', SEQS, sid) .. ((left or goes_on) and ' 1 ' or ' 0 ') .. ticket .. ' ' .. place(), i + 1
    end

    return {
      -- O v p lease label seen topmost: opens the session, or resumes it by a new connection. Answers: O ticket epoch.history; V v p
      -- lease, the others agree on other settings; Z lease ticket epoch.history, somebody is silent, and the caller is to ask
      -- again when the ticket is old enough to be `seen`, or at once if it is.
      O = function(i)
        local v, p, lease, label, seen = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]
        topmost = tonumber(ARGV[i + 5], 16)
        local known = call('HGET', SESSIONS, sid)
        if conn == '0' then
          -- An ACL that forbids one of the commands does so here, before anything of the session is written, and not in
          -- the middle of a later call.
          call('ZRANGEBYLEX', QUEUE, '[\0', '(\1', 'LIMIT', 0, 1)
          local asked = call('ZCARD', RECORDS) > 0
          now()
          call('HINCRBY', META, 'ticket', 0)
          call('ZREM', RECORDS, '')
          call('HDEL', OBJECTS, '')
          call('ZADD', RECORDS, 'XX', 0, '')
          call('HSCAN', META, 0)
          local counts, left = reap(seen)
          local first = note()
          local agreed = call('HMGET', META, 'v', 'p', 'lease', 'since')
          if agreed[1] then
            local differs = agreed[2] ~= p or v < agreed[1] or first and v > agreed[1]
            local waits = first and agreed[3] ~= lease
            local silence = first and now() - tonumber(agreed[4])
            if left or not differs and first and not counts and (asked or waits)
              and (silence < 0 or silence >= tonumber(agreed[3])) then
              return 'Z ' .. agreed[3] .. ' ' .. (left and seen or next_ticket() .. ' ' .. place()), #ARGV + 1
            end
            if differs or waits then return 'V ' .. agreed[1] .. ' ' .. agreed[2] .. ' ' .. agreed[3], #ARGV + 1 end
          end
          call('HSET', META, 'v', v, 'p', p, 'lease', lease)
        elseif not known then
          return 'DEAD'
        elseif tonumber(match(known, '^%d+')) > tonumber(conn) then
          return 'STALE'
        else
          call('ZREM', RECORDS, '') -- it can resume where memory is full
        end
        local ticket = renew_lease()
        call('HSET', SESSIONS, sid, conn .. ' ' .. label)
        call('HSET', SEQS, sid, format('%.0f', tonumber(conn) * SEQS_OF_A_CONNECTION))
        note()
        return 'O ' .. ticket .. ' ' .. place(), i + 6
      end,

      -- N name kind max robust ephemeral bypass: opens an object, or makes it. kind r: who asks knows that the semaphore was
      -- resized, and a server that has lost that learns it. Answers: N born; N born max, it was resized; E and its settings.
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

      -- R name born max: resizes a semaphore. Answers: R; X there is none.
      R = function(i)
        local name, born = ARGV[i], ARGV[i + 1]
        local o = get(name)
        if not o or (born ~= '-' and born ~= o.born) or o.kind ~= 's' and o.kind ~= 'r' then return 'X', i + 3 end
        resize(name, o, tonumber(ARGV[i + 2]))
        return 'R', i + 3
      end,

      -- C rid: gives a request up. C it has left the queue, H... it holds its permits after all, G it is unknown.
      C = function(i)
        local record = record_of(sid .. ARGV[i])
        local now = state(record)
        if now == 'Q' then
          drop(record, false)
          now = 'C'
        end
        return now, i + 1
      end,

      -- S from upTo count rid...: after a loss. Drops the caller's requests from the place `from` (a number and g, or '') up to the
      -- number upTo that are not listed, and tells the state of those listed. s instead of S: not all are dropped yet.
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

      -- U count rid...: with a beat, some of the requests that the caller holds and has not named so. Since when they are
      -- held is noted for `I`, up to a beat; most are given back before, and cost nothing. Answer: U.
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

      -- X: ends the session. All that it holds goes back, and it leaves every queue. Answers: X; + if something is left, then
      -- the session is too.
      X = function(i)
        if not clear(sid, false) then return '+', i end
        call('HDEL', SESSIONS, sid)
        forget(sid)
        note()
        return 'X', i
      end,

      -- V name rid ticket sid: whether a session still holds what it says it holds.
      V = function(i)
        return held_by(i) and '1' or '0', i + 4
      end,

      -- F name rid ticket sid: takes a hold away by force, as if its holder had died, and tells it so. Answers as V.
      F = function(i)
        local record = held_by(i)
        if record then
          tell(ARGV[i + 3], ARGV[i + 1] .. ':r')
          drop(record, true)
        end
        return record and '1' or '0', i + 4
      end,

      -- P cursor: the space's objects, a part of them: where to go on, and name NUL fixed free waiting deaths... of each.
      P = function(i)
        local found = call('HSCAN', OBJECTS, ARGV[i], 'COUNT', MOST_FOUND)
        local lines, all = { found[1] }, found[2]
        for at = 1, #all / 2 do
          local name = all[2 * at - 1]
          if not string.find(name, '\0', 1, true) then lines[#lines + 1] = name .. '\0' .. all[2 * at] end
        end
        return lines, i + 1
      end,

      -- L name born upTo: takes the waiters out of the queue up to the ticket upTo; -: all that there are. Answers: L; L upTo
      -- if some are left.
      L = function(i)
        local name, born, up_to = ARGV[i], ARGV[i + 1], ARGV[i + 2]
        local o = get(name)
        if not o or (born ~= '-' and born ~= o.born) then return 'X', i + 3 end
        if up_to == '-' then up_to = format('%014x', call('HGET', META, 'ticket')) end
        return expel(name, o, 'c', up_to) and 'L ' .. up_to or 'L', i + 3
      end,

      -- K name born: disposes of the object. Its waiters are told. What is held stays so, and goes back to nowhere. Answers:
      -- K; + if somebody waits still, and the object is there still.
      K = function(i)
        local name, born = ARGV[i], ARGV[i + 1]
        local o = get(name)
        if not o or (born ~= '-' and born ~= o.born) then return 'X', i + 2 end
        if expel(name, o, 'x', 'g') then return '+', i + 2 end
        objects[name] = false
        call('HDEL', OBJECTS, name)
        return 'K', i + 2
      end,

      -- I name limit place from: the object, the first entries of its queue behind a place, its holders among the first
      -- records behind `from`, from where to go on, or '', sid conn label of the sessions of all these, the times since when
      -- the holders hold, or '', and the time.
      I = function(i)
        local name, limit, place, from = ARGV[i], tonumber(ARGV[i + 1]), ARGV[i + 2], ARGV[i + 3]
        local o = get(name)
        if not o then return 'X', i + 4 end
        local text = format('I %s %d %d %d %d', o.fixed, o.free, o.waiting, o.deaths, o.bypass)
        local queue = call('ZRANGEBYLEX', QUEUE, '[' .. name .. '\0' .. place, '(' .. name .. '\1', 'LIMIT', 0, limit)
        local holders = {}
        local most = limit > 0 and MOST_FOUND or 0
        local records = call('ZRANGEBYLEX', RECORDS, '[' .. from, '+', 'LIMIT', 0, most)
        if o.kind == 'm' then records = { from == '' and most > 0 and record_of(o.holder) or nil } end
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

      -- J from: the space: epoch, history, last ticket, from where to go on or -; and sid conn label of the sessions behind.
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
  end

  rest = function() return made end
  return made
end

-- The call -----------------------------------------------------------------------------------------------------------

-- A session that has ended, and a command of a connection that has been replaced, do nothing.
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
