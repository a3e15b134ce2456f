-- The objects of a call. An object is read from OBJECTS when an operation first asks for it, and written at most once,
-- when the call ends. Without a server, OBJECTS has the objects themselves, and no text of them is made but for `P`.
--
--     get(name) --> o --> touch(name, o): o has changed --> write(name), in call.lua
--
-- The state of an object in OBJECTS is a text: "kind max robust ephemeral born free waiting deaths", and for a mutex
-- also "bypass passes lent noticed holder". `fixed` are the words from kind to born, which only a resize changes.
--
--   kind     s, m or w (semaphore, mutex, read-write lock), or r: a semaphore that was resized. A process that opens
--            such a semaphore need not know its number of permits, and is told the number
--   born     the ticket with which the object was made. A record with a smaller ticket belongs to an earlier object of
--            the same name
--   free     the number of permits that nobody holds; below 0 if a resize left fewer permits than are held
--   deaths   how many holders have died since the last grant
--   bypass, passes, lent, noticed, holder
--            only for a mutex, see `lend` in queue.lua. holder: the holder, as sid rid, or - if nobody holds. lent: how
--            many passes are lent to the holder. passes: how many passes count as used by earlier holders. noticed:
--            whether the holder knows that other processes wait
--
-- Invariant: an ephemeral object is not kept if nobody holds it, nobody waits for it and it has no deaths to tell.

local function get(name)
  --- return call('HGET', OBJECTS, name)
  -- [server
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
  -- server]
end

local function touch(name, o)
  if not o.changed then
    o.changed = true
    changed[#changed + 1] = name
  end
end

local function text_of(o)
  local text = o.fixed .. format(' %d %d %d', o.free, o.waiting, o.deaths)
  if o.kind == 'm' then
    text = text .. format(' %d %d %d %s %s', o.bypass, o.passes, o.lent, o.noticed, o.holder)
  end
  return text
end

local function write(name)
  local o = get(name)
  if not o then return end
  --- o.changed = false
  --- if o.kind == 'r' then o.lent = o.max end
  if o.ephemeral == '1' and o.free == o.max and o.waiting == 0 and o.deaths == 0 then
    call('HDEL', OBJECTS, name)
    return
  end
  -- [server
  call('HSET', OBJECTS, name, text_of(o))
  -- server]
end
