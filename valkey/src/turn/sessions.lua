-- Sessions: signs of life, and what becomes of the dead. A part of `operations`.
--
--     O, B, W: a sign of life --> a ticket, which the answer tells the process
--     0.75 of a lease later, by the process's own clock: its next sign names that ticket as `seen`
--     whoever has given no sign since `seen` is dead: reap takes back what it holds, and it has left every queue
--
-- No clock of the server decides that a session is dead, for a clock may jump: by an hour while nothing happens, it looks as
-- an hour does in which nothing happened. What decides is the time that somebody has lived through.
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
