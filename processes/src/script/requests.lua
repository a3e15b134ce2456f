-- A request comes and goes: ask (A, T) and give back (D). Nearly all operations but those on rates are these. What they
-- need only if somebody waits is in queue.lua, behind `rest`.
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
  --- call('HSET', META, key, now()) -- see `U`
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
  local key = sid .. rid
  local known = record_of(key)
  if known then return rest().state(known), i + 4 end -- a client library has sent the operation twice
  local o = get(name)
  if not o or (born ~= '-' and born ~= o.born) then return 'X', i + 4 end
  local n = tonumber(hex, 16)
  if n > o.max then return 'M ' .. o.max, i + 4 end
  if o.waiting == 0 and n <= o.free then
    local ticket = next_ticket()
    call('ZADD', RECORDS, 0, key .. ticket .. hex .. name)
    touch(name, o)
    return 'H ' .. hold(name, o, key, ticket, n), i + 4
  end
  if not queues then return 'R', i + 4 end
  local ticket = next_ticket()
  call('ZADD', RECORDS, 0, key .. ticket .. hex .. name)
  --- beaten = format('%011x', now()) -- a request has room for its time
  call('ZADD', QUEUE, 0, name .. '\0' .. ticket .. key .. hex .. format('%014x', o.passes or 0) .. beaten)
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
    -- [server
    call('HDEL', META, key)
    -- server]
    note = sub(note, 1, 1)
  end
  local n = tonumber(hex, 16)
  --- if k == n then call('HDEL', META, key) end
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
