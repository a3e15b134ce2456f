-- Rates: at most so many permits begin in any window, in the order in which requests arrive. A request is told its date
-- at once, in the answer to its one call, and begins then. Nobody is told anything later.
--
--     E T --> date = the earliest at which the window has room --> told
--                 --> too late for the caller's time-out        --> refused: it has taken nothing
--     E C --> gives a date back: a hole, which the next request takes that fits in
--
-- All times are whole microseconds of the partition's clock (`clock`). A call begins at its date or up to `slack`
-- later, and otherwise it asks again. So the dates keep windows of `per + slack`, and then the calls keep windows of
-- `per`, whatever the network does.
--
-- The state of a rate is a text in a key of its own, which the server drops when a new state would answer the same; in a
-- broker, it is in RATES. All fields are hexadecimal and have fixed widths:
--   numbers(44): permits(8) per(14) burst(8) slack(14)
--   given(14) following(14) latest(14) taken(14)
--   rare(79): resized(1) epoch(8) repaired(14) paused(14) moved(14) stopped(14) cancelled(14)
--   length(8) of the runs, then the runs and then the holes: date(14) permits(8) each, by date
--
--   given      how many permits have got dates; with a date, it names the request
--   following  when the next permit would be due if all came evenly
--   latest     the latest date
--   taken      the permits of all runs
--   epoch, repaired   after a loss, see `mend`
--   paused     no date lies before this time, but for those that had passed when the pause began
--   moved      by how much pauses have moved dates, all together
--   stopped    when the last pause began. It has moved the dates behind
--   cancelled  requests up to this number are cancelled
-- Invariants: dates never decrease, but for those of holes, whose permits count already in their runs; and a run leaves
-- the text only when it lies a window behind the time, or behind the latest date.
--
-- A date that lies so far ahead that the death of its process is noticed before is listed in RECORDS, behind the
-- requests of the session: sid(16) r date(14) given(9) permits(8) NUL name; the date without what pauses have moved it,
-- and the lowest 36 bits of `given`.
-- When the session ends, what it has listed becomes holes (`free`). A process that has lost its session gives up such
-- dates. Dates that are nearer pass unused.

rates = function()
  local NONE = '0000000000000000000000000000000000000000000000000000000000000000000000000000000' -- rare, if all is 0
  local RUN = 22
  local MOST_RUNS = 64 -- more runs than these join if they are of the same part of a window, of so many parts
  local MOST_HOLES = 256 -- dates that are given back while there are so many holes pass unused
  local TICK = 5000 -- permits that are due within so many microseconds may go together
  local BEATS = 5 -- each session beats at least so often in a lease
  local FAR = 1250 -- the death of a process is noticed within so many thousandths of a lease
  local MOST_COUNT = 4294967295 -- a run counts so many permits at most
  local LAST_TIME = 9007199254740991 -- and no time is later than this one, in the year 2255: what both forms count exactly
  local WRAP = 68719476736 -- the numbers of requests in records
  local JUMP = 1000000 -- keys may have expired before their time if the server's clock was so much too late

  local name, numbers, permits, per, burst, slack, window, interval
  local given, following, latest, taken, rare
  local resized, epoch, repaired, paused, moved, stopped, cancelled
  local runs, holes, changes
  local far, pause_of_loss

  local function date_of(list, at) return tonumber(sub(list, at, at + 13), 16) end
  local function count_of(list, at) return tonumber(sub(list, at + 14, at + 21), 16) end

  -- Finds the time of the partition, `moment`. It never goes back, and goes as the monotonic clock of the caller says:
  -- the caller was told the time `seen` at least `low` and at most `high` microseconds ago. So a jump of the server's
  -- clock, or another server with another clock, is no time that has passed. A caller that was told no time may not have
  -- lived through a jump; then the time goes on by a beat at most, if a session lives that tells its time with its beats.
  local function clock(seen, low, high, slack)
    if moment then return end
    local meta = call('HMGET', META, 'offset', 'seen', 'timer', 'began', 'lease')
    -- [server
    local both = call('TIME')
    local here = tonumber(both[1]) * 1000000 + tonumber(both[2])
    local beat = tonumber(meta[5]) / BEATS
    far = tonumber(meta[5]) * FAR
    -- server]
    --- local here = call('TIME') * 1000
    --- local beat = 1000
    --- far = 0
    local offset, least, most = tonumber(meta[1] or 0), tonumber(meta[2] or 0), 0
    if seen > 0 then
      least = math.max(least, seen + math.floor(low * 0.999))
      -- The call may have been under way for long. If another one came shortly before, the clock has not jumped.
      most = math.max(least, seen + math.ceil(high * 1.001)) + math.floor(slack / 4)
    elseif meta[3] and meta[3] ~= sid and call('HGET', SESSIONS, meta[3]) then
      most = least + beat * 1100
    end
    moment = here + offset
    local began = tonumber(meta[4] or 0)
    if moment < least then
      moment = least
    elseif most > 0 and moment > most then
      if moment - most > JUMP then
        began = now()
        call('HSET', META, 'began', format('%.0f', began))
      end
      -- Not `most`: then each of several jumps in a window would make the window shorter by a part of the slack.
      moment = least
    end
    if moment ~= here + offset then call('HSET', META, 'offset', format('%.0f', moment - here)) end
    call('HSET', META, 'seen', format('%.0f', moment))
    -- After a loss, those who know what was lost say so within a beat.
    local left = began + beat - now()
    if left > beat then
      -- The clock has gone back since, so nobody knows how much of the beat has passed.
      began, left = now(), beat
      call('HSET', META, 'began', format('%.0f', began))
    end
    pause_of_loss = left > 0 and math.ceil(left * 1000) or 0
  end

  -- Drops what lies a window behind a time.
  local function expire(time)
    local at = 1
    while at < #runs and date_of(runs, at) + window <= time do
      taken = taken - count_of(runs, at)
      at = at + RUN
    end
    runs = sub(runs, at)
  end

  -- Reads the state of a rate. wanted: the caller's numbers; the largest slack of all counts. replaces: the others count
  -- too, whatever the state says.
  local function load(of, wanted, replaces)
    name = of
    -- [server
    local text = call('GET', RATES .. name)
    -- server]
    --- local text = call('GET', RATES, name)
    numbers, given, following, latest, taken, rare, runs, holes = wanted, 0, 0, 0, 0, NONE, '', ''
    slack = tonumber(sub(wanted, 31, 44), 16)
    if text then
      local theirs = tonumber(sub(text, 31, 44), 16)
      if not replaces then numbers = sub(text, 1, 44) end
      if theirs ~= slack then
        slack = math.max(slack, theirs)
        numbers = sub(numbers, 1, 30) .. format('%014x', slack)
      end
      given, following = tonumber(sub(text, 45, 58), 16), tonumber(sub(text, 59, 72), 16)
      latest, taken = tonumber(sub(text, 73, 86), 16), tonumber(sub(text, 87, 100), 16)
      rare = sub(text, 101, 179)
      local length = tonumber(sub(text, 180, 187), 16)
      runs = sub(text, 188, 187 + length)
      holes = sub(text, 188 + length)
    end
    permits, per = tonumber(sub(numbers, 1, 8), 16), tonumber(sub(numbers, 9, 22), 16)
    burst = tonumber(sub(numbers, 23, 30), 16)
    resized, epoch, repaired, paused, moved, stopped, cancelled = 0, 0, 0, 0, 0, 0, 0
    if rare ~= NONE then
      resized, epoch = tonumber(sub(rare, 1, 1), 16), tonumber(sub(rare, 2, 9), 16)
      repaired, paused = tonumber(sub(rare, 10, 23), 16), tonumber(sub(rare, 24, 37), 16)
      moved, stopped = tonumber(sub(rare, 38, 51), 16), tonumber(sub(rare, 52, 65), 16)
      cancelled = tonumber(sub(rare, 66, 79), 16)
    end
    window = per + slack
    interval = window / permits
    if replaces and following > moment then
      -- What is due in so many intervals stays due in so many; exactly, if there is the same interval.
      local before = (tonumber(sub(text, 9, 22), 16) + slack) / tonumber(sub(text, 1, 8), 16)
      following = math.floor(moment + (following - moment) * (interval / before))
    end
    changes = false
    expire(moment)
    while #holes > 0 and date_of(holes, 1) <= moment do holes = sub(holes, 23) end
  end

  local function note_rare()
    rare = format('%d%08x%014x%014x', resized, epoch, repaired, paused)
      .. format('%014x%014x%014x', moved, stopped, cancelled)
    changes = true
  end

  local function save()
    if not changes then return end
    following = math.min(following, LAST_TIME)
    local whole = numbers .. format('%014x%014x%014x%014x', given, following, latest, taken) .. rare
      .. format('%08x', #runs) .. runs .. holes
    -- So much longer that a jump by which nobody notices a loss does not lose it.
    local lasts = math.ceil((math.max(latest + window, following, paused, moment) - moment + JUMP + slack) / 1000) + 1
    -- A rate that was resized must not forget its numbers.
    if resized == 1 then lasts = 31536000000 end
    -- [server
    call('SET', RATES .. name, whole, 'PX', format('%.0f', lasts))
    -- server]
    --- call('KEEPFOR', RATES, name, whole, lasts)
  end

  -- Adds permits to the runs.
  local function log(date, k)
    local at = #runs - 21
    local all, before = k, 0
    local newest, part = date_of(runs, at), window / MOST_RUNS -- there may be no run yet
    local joins = newest == date or #runs > MOST_RUNS * RUN and math.floor(newest / part) == math.floor(date / part)
    if joins then
      before = count_of(runs, at)
      all = math.min(before + k, MOST_COUNT)
      runs = sub(runs, 1, at - 1)
    end
    runs = runs .. format('%014x%08x', date, all)
    taken = taken + all - before
    latest = math.max(latest, date)
    changes = true
  end

  -- The server may have lost permits of which the caller knows. They count at the last date that the caller knows, those
  -- of a window at most. `repaired`: up to which number of the lost history they are counted again. A new epoch begins if
  -- the caller knows more, or a later epoch. Then `given` is at least what the caller knows, so that the numbers of requests
  -- can be compared over epochs.
  local function mend(known_epoch, known, known_last)
    local missing
    if known_epoch >= epoch then
      missing = known - given
      if missing > 0 or known_epoch > epoch then
        epoch, repaired = known_epoch + 1, known
        note_rare()
      end
    else
      missing = known - repaired
      if missing > 0 then
        repaired = known
        note_rare()
      end
    end
    if missing <= 0 then return end
    given = given + missing
    if known_last + window <= moment then return end
    log(math.max(latest, known_last), math.min(missing, permits))
    following = math.max(following, math.floor(known_last + math.min(missing, burst) * interval))
  end

  -- The place of the first hole for k permits that is at most so many microseconds away; 0: there is none.
  local function hole_for(k, most)
    local at = 1
    while at < #holes do
      if most >= 0 and date_of(holes, at) - moment > most then return 0 end
      if count_of(holes, at) >= k then return at end
      at = at + RUN
    end
    return 0
  end

  -- Changes the permits of the hole at a place.
  local function set_hole(at, k)
    local hole = k > 0 and sub(holes, at, at + 13) .. format('%08x', k) or ''
    holes = sub(holes, 1, at - 1) .. hole .. sub(holes, at + 22)
    changes = true
  end

  -- A date is free again. A date that had passed when a pause began was not moved, so it seems to lie before `paused`.
  local function add_hole(date, k)
    if date <= moment or date < paused or date > latest then return end
    local at = 1
    while at < #holes and date_of(holes, at) < date do at = at + RUN end
    if at < #holes and date_of(holes, at) == date then
      set_hole(at, count_of(holes, at) + k)
    elseif #holes < MOST_HOLES * RUN then
      holes = sub(holes, 1, at - 1) .. format('%014x%08x', date, k) .. sub(holes, at)
      changes = true
    end
  end

  -- When k permits would go that are asked for now, behind all others.
  local function date_for(k)
    local ahead = math.max((burst - math.min(k, burst)) * interval, math.min(TICK, interval))
    local date = math.max(moment + pause_of_loss, latest, paused, math.ceil(following - ahead))
    local over, at = taken + k - permits, 1
    while over > 0 and at < #runs do
      over = over - count_of(runs, at)
      date = math.max(date, date_of(runs, at) + window)
      at = at + RUN
    end
    return date
  end

  -- By how much pauses have moved the dates of a rate.
  local function moved_of(other)
    if other == name then return moved end
    -- [server
    local text = call('GET', RATES .. other)
    -- server]
    --- local text = call('GET', RATES, other)
    return text and tonumber(sub(text, 138, 151), 16) or 0
  end

  -- Lists a date of the caller that lies far ahead, and takes some off the list that have passed.
  local function list(date, k)
    local mine = sid .. 'r'
    local old = call('ZRANGEBYLEX', RECORDS, '[' .. mine, '(' .. mine .. format('%014x', moment), 'LIMIT', 0, 4)
    for _, each in ipairs(old) do
      if tonumber(sub(each, 18, 31), 16) + moved_of(sub(each, 50)) < moment then call('ZREM', RECORDS, each) end
    end
    call('ZADD', RECORDS, 0, mine .. format('%014x%09x%08x', date - moved, given % WRAP, k) .. '\0' .. name)
  end

  -- Tells sessions that they must look at a rate. Those that are not told look by themselves.
  local function tell_all(tag)
    local all = call('ZRANGEBYSCORE', LEASES, '-inf', '+inf', 'WITHSCORES', 'LIMIT', 0, MOST_FOUND)
    for at = 1, #all / 2 do
      if all[2 * at - 1] ~= sid then rest().tell(all[2 * at - 1], 'E:' .. tag) end
    end
  end

  -- The dates that lie ahead move back by as much as the pause becomes longer. What lies ahead then lies at `paused` at the
  -- earliest, and what has passed would lie before `paused` if it moved, too (see `add_hole`).
  local function pause(wait, tag)
    local delta = math.max(0, moment + wait - math.max(paused, moment + 1))
    if delta == 0 then return end
    local after = {}
    local at = 1
    while at < #runs do
      local date = date_of(runs, at)
      if date > moment then date = date + delta end
      after[#after + 1] = format('%014x%08x', date, count_of(runs, at))
      at = at + RUN
    end
    runs = table.concat(after, '')
    local free = {}
    at = 1
    while at < #holes do
      free[#free + 1] = format('%014x%08x', date_of(holes, at) + delta, count_of(holes, at))
      at = at + RUN
    end
    holes = table.concat(free, '')
    if latest > moment then latest = latest + delta end
    following, moved, paused, stopped = following + delta, moved + delta, moment + wait, moment
    note_rare()
    tell_all(tag)
  end

  -- Gives back permits that were used and are not. The oldest go: what is left then counts for longest.
  local function unspend(k)
    local left, at, kept = k, 1, ''
    while at < #runs and left > 0 and date_of(runs, at) <= moment do
      local count = count_of(runs, at)
      local back = math.min(left, count)
      if back < count then kept = format('%014x%08x', date_of(runs, at), count - back) end
      left = left - back
      at = at + RUN
    end
    runs = kept .. sub(runs, at)
    taken = taken - (k - left)
    following = math.max(0, math.floor(following - (k - left) * interval))
    changes = true
  end

  -- How many permits have dates that lie ahead, of those whose runs are still there.
  local function reserved()
    local sum, at = 0, 1
    while at < #runs do
      if date_of(runs, at) > moment then sum = sum + count_of(runs, at) end
      at = at + RUN
    end
    at = 1
    while at < #holes do
      sum = sum - count_of(holes, at)
      at = at + RUN
    end
    return sum
  end

  -- E name numbers epoch given last seen low high what a b c d: an operation on a rate. numbers: as in the state; those
  -- of the first caller count, or of the last one if the name has a NUL, as those of keys have. epoch, given, last: the
  -- most that the caller was told of this rate. seen, low, high: see `clock`. what:
  --   T k most         takes k permits, if their date is at most `most` microseconds away; most below 0: however far
  --   C date k given epoch   gives a date back (the date without what pauses have moved)
  --   D date k given epoch   gives a date back that is listed
  --   P wait tag       nobody gets a date before so many microseconds, and the dates that lie ahead move back. tag: what
  --                    the sessions are told, which must look
  --   L 0 tag          cancels all requests that have got a date
  --   S k              counts k permits now, or below 0 gives used ones back
  --   R                the numbers of this call are those of the rate from now on
  --   I k most         looks when k permits could go; with k = 0 only at the rate
  -- Answers: E ok given date moment latest. ok: 0 if T has refused, 2 if the date is listed. And permits per burst slack
  -- resized epoch moved stopped cancelled taken reserved, for I, and if the caller's numbers are others or one of those
  -- is not 0. M permits: there are never so many.
  local function rate(i)
    local what, a, b, c = ARGV[i + 8], tonumber(ARGV[i + 9]), tonumber(ARGV[i + 10]), tonumber(ARGV[i + 11])
    clock(tonumber(ARGV[i + 5]), tonumber(ARGV[i + 6]), tonumber(ARGV[i + 7]), tonumber(sub(ARGV[i + 1], 31, 44), 16))
    load(ARGV[i], ARGV[i + 1], what == 'R' or string.find(ARGV[i], '\0', 1, true))
    mend(tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3]), tonumber(ARGV[i + 4]))
    local ok, date = 1, math.max(moment, paused)
    if what == 'T' or what == 'I' and a > 0 then
      if a > permits then return 'M ' .. permits, i + 13 end
      local hole = hole_for(a, b)
      if hole > 0 then date = date_of(holes, hole) else date = date_for(a) end
      if b >= 0 and date - moment > b then
        ok = 0
      elseif what == 'T' then
        if hole > 0 then
          set_hole(hole, count_of(holes, hole) - a)
        else
          log(date, a)
          following = math.floor(math.max(following, date) + a * interval)
          -- No later permit has an earlier date.
          expire(date)
        end
        given = given + a
        if date - moment > far then
          list(date, a)
          ok = 2
        end
      end
    elseif what == 'C' or what == 'D' then
      local key = sid .. 'r' .. format('%014x%09x', a, c % WRAP)
      local known = what == 'C'
      if what == 'D' then
        local listed = call('ZRANGEBYLEX', RECORDS, '[' .. key, '(' .. key .. 'g', 'LIMIT', 0, 1)[1]
        if listed then known = call('ZREM', RECORDS, listed) == 1 end
      end
      if known and tonumber(ARGV[i + 12]) == epoch then add_hole(a + moved, b) end
    elseif what == 'P' then
      pause(a, ARGV[i + 10])
    elseif what == 'L' then
      cancelled = given
      note_rare()
      tell_all(ARGV[i + 10])
    elseif what == 'S' and a >= 0 then
      log(math.max(latest, moment), a)
      following = math.floor(math.max(following, latest) + a * interval)
      given = given + a
    elseif what == 'S' then
      unspend(-a)
    elseif what == 'R' then
      resized = 1
      note_rare()
    end
    save()
    local answer = format('E %d %.0f %.0f %.0f %.0f', ok, given, date, moment, latest)
    if what ~= 'I' and rare == NONE and numbers == ARGV[i + 1] then return answer, i + 13 end
    return answer .. format(' %d %.0f %d %.0f %d %d', permits, per, burst, slack, resized, epoch)
      .. format(' %.0f %.0f %.0f %d %d', moved, stopped, cancelled, taken, reserved()), i + 13
  end

  -- G seen low high: goes with a beat of a session that uses rates, so that a jump of the clock between two beats is no
  -- time that has passed. Answer: G moment began. began: when the last loss was noticed, by the server's clock.
  local function beat_of_rates(i)
    clock(tonumber(ARGV[i]), tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), 0)
    call('HSET', META, 'timer', sid)
    return 'G ' .. format('%.0f', moment) .. ' ' .. (call('HGET', META, 'began') or '0'), i + 3
  end

  -- A session has ended: the dates that it has listed are free again. Returns how many it has looked at. A beat does this
  -- before it tells its time, so the clock stays as it is: the time that somebody was told last is early enough, as who
  -- reads a rate drops the holes that have passed.
  local function free(victim)
    local listed = call('ZRANGEBYLEX', RECORDS, '[' .. victim .. 'r', '(' .. victim .. 's', 'LIMIT', 0, math.max(work, 0))
    local before = moment
    if #listed > 0 and not before then moment = tonumber(call('HGET', META, 'seen') or 0) end
    for _, each in ipairs(listed) do
      call('ZREM', RECORDS, each)
      -- The numbers count only if there is no state, and then there are no dates.
      load(sub(each, 50), '00000001000000000f42400000000100000000000000', false)
      add_hole(tonumber(sub(each, 18, 31), 16) + moved, tonumber(sub(each, 41, 48), 16))
      save()
    end
    moment = before
    return #listed
  end

  local made = { rate = rate, beat_of_rates = beat_of_rates, free = free }
  rates = function() return made end
  return made
end
