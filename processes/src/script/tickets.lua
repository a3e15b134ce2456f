-- Tickets: one counter of the partition, from which requests, signs of life and objects get their numbers.
--
--     history A:  1 2 3 ... 90 91 92          the last tickets may be lost with the server that gave them
--     history B:                       |<- room for those that wait ->|  next ...
--                                      late                           leapt
--
-- A ticket is 14 hexadecimal digits, so tickets sort as strings do. Invariant: no two requests have the same ticket,
-- and a later request has a larger one, even if a server was promoted that lacked the last tickets. `compare` sees to
-- this, once in each call that gives a ticket.

-- [server
local time -- the time in microseconds, once the call has asked for it
-- server]
local beaten -- the time of the last beat, as 11 digits, once `compare` was called
local leapt -- tickets up to this one belong to earlier histories; known once `compare` was called
local topmost = 0 -- the largest ticket that the caller knows, as it says with `O`

local function now()
  --- return call('TIME')
  -- [server
  if not time then
    local both = call('TIME')
    time = both[1] * 1000000 + both[2]
  end
  return math.floor(time / 1000)
  -- server]
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
--
-- Without a server, the first call begins the history.
local function compare()
  if leapt then return end
  -- [server
  local info = redis.pcall('INFO', 'replication')
  local _, at
  if type(info) == 'string' then _, at = string.find(info, 'master_replid:', 1, true) end
  -- server]
  local meta = call('HMGET', META, 'history', 'leapt', 'ticket', 'beaten')
  -- [server
  local history = at and sub(info, at + 1, at + 40) or meta[1] or '-'
  -- server]
  --- local history = call('HISTORY')
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
    -- If there was no history before, nobody knows of anything that was lost. See `clock`.
    if meta[1] or topmost > 0 then
      call('HSET', META, 'began', format('%.0f', now()), 'lost', '-' .. sub(history, -5))
    end
  end
end

local function next_ticket()
  compare()
  return format('%014x', call('HINCRBY', META, 'ticket', 1))
end
