-- Tickets: one counter of the space, from which requests, signs of life and objects get their numbers.
--
--     history A:  1 2 3 ... 90 91 92          the last ones were given, and lost with the server that gave them
--     history B:                       |<- room for those that wait ->|  next ...
--                                      late                           leapt
--
-- A ticket is 14 hexadecimal digits, so tickets sort as strings do. Invariant: no two requests have one ticket, and a later
-- request has a larger one, also where a server was promoted that had lost the last ones. `compare` sees to that, once in
-- each call that gives a ticket.

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
