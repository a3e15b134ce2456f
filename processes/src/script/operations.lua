-- All operations except A, D, T, E and G, by their letters. Each operation takes its arguments from ARGV[i] on. It returns
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
      local others = call('ZCARD', LEASES) > 0
      local agreed = call('HMGET', META, 'v', 'p', 'lease', 'since')
      local v = tonumber(agreed[1] or writes)
      if agreed[1] then
        local differs = agreed[2] ~= p or reads < v
        local waits = others and (agreed[3] ~= lease or is_unread(v, writes))
        local silence = first and now() - tonumber(agreed[4])
        if left or not differs and first and not counts and (asked or waits)
          and (silence < 0 or silence >= tonumber(agreed[3])) then
          return 'Z ' .. agreed[3] .. ' ' .. (left and seen or next_ticket() .. ' ' .. place()), #ARGV + 1
        end
        if differs or waits then return 'V ' .. agreed[1] .. ' ' .. agreed[2] .. ' ' .. agreed[3], #ARGV + 1 end
      end
      call('HSET', META, 'v', math.max(v, writes), 'p', p, 'lease', lease)
      -- `reap` may have found that this very session was dead.
      if not call('HGET', SESSIONS, sid) then call('HINCRBY', META, 'reads' .. reads, 1) end
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
      if kind == 'r' then o.lent = o.max end
      -- [server
      objects[name] = o
      -- server]
      --- call('KEEP', OBJECTS, name, o)
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
  -- names them, and cost nothing. Without a server, `hold` notes the time already. Answer: U.
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
      --- all[2 * at] = text_of(all[2 * at])
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
    -- [server
    objects[name] = false
    -- server]
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

  -- Only without a server, and only for the broker, which calls with the empty sid:
  -- Z sid: the process of the session has ended. Answers: Z. +: something is left, and the broker has to ask again.
  --- Z = function(i)
  ---   unlist(ARGV[i])
  ---   if not clear(ARGV[i], true) then return '+', i + 1 end
  ---   forget(ARGV[i])
  ---   return 'Z', i + 1
  --- end,

  -- Y: begins the history, or goes on with the grants of one object that are left. Answer: Y.
  --- Y = function(i)
  ---   compare()
  ---   go_on()
  ---   return 'Y', i
  --- end,
}
