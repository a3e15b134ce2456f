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
  if work > 0 then work = work - rates().seldom().free(victim) end
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
    if count and tonumber(count) > 0 then return true end
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
-- whether `seen` counts, because it is of the present history, and whether dead sessions may be left. Without a server,
-- the broker knows who has died, see `Z`.
local function reap(seen)
  compare()
  --- return false, false
  -- [server
  if sub(seen, 16) ~= place() then return false, false end
  local dead = call('ZRANGEBYSCORE', LEASES, '-inf', tonumber(sub(seen, 1, 14), 16), 'LIMIT', 0, 4)
  for _, victim in ipairs(dead) do
    unlist(victim)
    if not clear(victim, true) then return true, true end
    forget(victim)
  end
  return true, #dead == 4
  -- server]
end

-- Returns the session that has been silent for longest, and notes since when, by TIME, it is this session.
local function note()
  --- return nil
  -- [server
  local first = call('ZRANGEBYSCORE', LEASES, '-inf', '+inf', 'LIMIT', 0, 1)[1]
  if first and (first == sid or first ~= call('HGET', META, 'first')) then
    call('HSET', META, 'first', first, 'since', now())
  end
  return first
  -- server]
end

-- Notes a sign of life of the caller. Returns the ticket of this sign.
--
-- Without a server, the tickets rise to the time if they are more than an hour behind: after a restart of the machine the
-- clock may have been wrong when the history began, and the next history begins behind what this one has given.
local function renew_lease()
  --- compare()
  --- if (now() - 3600000 - 1577836800000) * 1024 > tonumber(call('HGET', META, 'ticket')) then
  ---   call('HSET', META, 'ticket', (now() - 1577836800000) * 1024)
  --- end
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
