-- The objects of a call: each is read from OBJECTS when an operation first asks for it, and written once, when the call ends.
--
--     get(name) --> o --> touch(name, o): it has changed --> write(name), in call.lua
--
-- The words of an object, as OBJECTS has them: "kind max robust ephemeral born free waiting deaths", and of a mutex besides
-- "bypass passes lent noticed holder". `fixed` are the words that do not change, kind to born.
--
--   kind     s, m, w (semaphore, mutex, rwlock), or r: a semaphore that was resized. Whoever opens that one need not know how
--            many permits it has, and is told
--   born     the ticket at its making; a record with a smaller ticket belongs to an earlier object of the name
--   free     permits that nobody holds; less than 0 while more are held than there are since a resize
--   deaths   of owners, since the last grant
--   bypass, passes, lent, noticed, holder
--            of a mutex, see `lend` in queue.lua. passes: how many were lent or counted so far. lent: to the holder (sid rid,
--            or -). noticed: whether the holder knows of others
--
-- Invariant: an object that nobody holds, waits for or has left deaths in is not kept if it is ephemeral.

local function get(name)
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
end

local function touch(name, o)
  if not o.changed then
    o.changed = true
    changed[#changed + 1] = name
  end
end

local function write(name)
  local o = objects[name]
  if not o then return end
  if o.ephemeral == '1' and o.free == o.max and o.waiting == 0 and o.deaths == 0 then
    call('HDEL', OBJECTS, name)
    return
  end
  local text = o.fixed .. format(' %d %d %d', o.free, o.waiting, o.deaths)
  if o.kind == 'm' then
    text = text .. format(' %d %d %d %s %s', o.bypass, o.passes, o.lent, o.noticed, o.holder)
  end
  call('HSET', OBJECTS, name, text)
end
