-- The queue of an object: who waits, in the order of tickets, and how the head is served. A part of `rest`.
--
--     head_of --> n <= free --> grant: it leaves the queue, holds, and is told
--             --> n >  free --> it waits, and so do all behind it
--             --> n >  max  --> it is turned away (since a resize)
--
-- An entry is name NUL ticket(14) sid(16) rid(10) n(8) p0(14) t(11), taken apart by position from its end.
-- Invariants: I2, an entry has its record; I3, waiting = the entries of the name; I4, nobody waits, or the head asks for more
-- than is free, or grants of the name are noted as left; I5, grants are in the order of tickets; I6, a grant was told to its
-- session. After each change that could make a head due comes `grant`.

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
