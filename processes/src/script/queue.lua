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
