/** Longest id of a job that is read, in octets; BullMQ's own ids are numbers. */
export const MAX_JOB_ID_OCTETS = 128;
/** Longest data of a job that is read, in octets: 500 ids have 20 KB. */
export const MAX_JOB_DATA_OCTETS = 65_536;
/** Entries with too long an id that one call passes over; the next call continues. */
const MAX_PASSED_OVER = 1_000;

export interface JobFields {
  readonly name: string;
  /** As BullMQ stores them, in JSON. */
  readonly options: string;
}

/** Text in Lua, of any octets but line breaks. */
const quoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;

/** A pattern of Lua: the number of events that are kept; BullMQ's default is 10,000. */
const EVENTS_KEPT = '^%d%d?%d?%d?%d?%d?$';

const WRITES = `
local stored = redis
local write
do
  local call, pcall = stored.call, stored.pcall
  local replaced = { HMSET = true, HINCRBY = true, INCR = true, XADD = true }

  function write(command, key, ...)
    if command == 'HGET' and ... == 'opts.maxLenEvents' then
      local value = call('HGET', key, ...)
      if value and not string.find(value, '${EVENTS_KEPT}') then return false end
      return value
    end
    if not replaced[command] then return call(command, key, ...) end
    local done = pcall(command, key, ...)
    if type(done) ~= 'table' or not done.err then return done end
    -- Without memory the value is not the reason, and what is there stays.
    if string.find(done.err, 'OOM command', 1, true) then return call(command, key, ...) end
    call('UNLINK', key)
    return call(command, key, ...)
  end
end
`;

/**
 * Precedes those of BullMQ's scripts that add jobs. A value to which its command cannot be applied is dropped: no hash where a
 * job is stored, a count that is at its end, a stream of events whose last id leaves none. A number of events to keep that is
 * none is ignored.
 */
export const addedJobs = `${WRITES}local redis = setmetatable({ call = write }, { __index = stored })
`;

const READS = `${WRITES}
local redis
do
  local call, reads = stored.call, {}

  -- At least one id, each followed by a comma.
  local function isIds(data)
    if string.sub(data, 1, 8) ~= '{"ids":[' or string.sub(data, -2) ~= ']}' then return false end
    return string.gsub(string.sub(data, 9, -3) .. ',', '"[%w-]+",', '') == ''
  end

  local function short(ids, drop)
    local kept = {}
    for _, id in ipairs(ids) do
      if #id <= ${MAX_JOB_ID_OCTETS} then kept[#kept + 1] = id else drop(id) end
    end
    return kept
  end

  function reads.RPOPLPUSH(from, to)
    for _ = 1, ${MAX_PASSED_OVER} do
      local id = call('RPOPLPUSH', from, to)
      if not id or #id <= ${MAX_JOB_ID_OCTETS} then return id end
      call('LPOP', to)
    end
    return false
  end

  function reads.ZPOPMIN(key)
    for _ = 1, ${MAX_PASSED_OVER} do
      local found = call('ZPOPMIN', key)
      if #found == 0 or #found[1] <= ${MAX_JOB_ID_OCTETS} then return found end
    end
    return {}
  end

  function reads.LRANGE(key, first, last)
    return short(call('LRANGE', key, first, last), function(id) call('LREM', key, 1, id) end)
  end

  function reads.SMEMBERS(key)
    return short(call('SMEMBERS', key), function(id) call('SREM', key, id) end)
  end

  -- Without a parent, children or a deduplication, which would keep the job from being finished.
  function reads.HGETALL(key)
    call('HDEL', key, 'parent', 'parentKey', 'deid', 'rjk')
    call('UNLINK', key .. ':dependencies', key .. ':unsuccessful')
    local data = '{}'
    if call('HSTRLEN', key, 'data') <= ${MAX_JOB_DATA_OCTETS} then
      local found = call('HGET', key, 'data')
      if found and isIds(found) then data = found end
    end
    return { 'name', NAME, 'data', data, 'opts', OPTIONS, 'timestamp', '0', 'delay', '0', 'priority', '0' }
  end

  redis = setmetatable({
    call = function(command, ...)
      local read = reads[command]
      if read then return read(...) end
      return write(command, ...)
    end,
  }, { __index = stored })
end
`;

/**
 * Prepended to those of BullMQ's scripts that hand jobs to a worker; it replaces their read commands. Any client of Redis can
 * store a job of any content, and BullMQ would parse all of it in the worker's process. The scripts read only the data of a
 * stored job: ids as JobNotifier adds them, or `{}` for other or longer data. Name and options are replaced by the usual ones.
 * An entry whose id is too long is dropped. Writes are those of `addedJobs`.
 */
export const boundedJobs = ({ name, options }: JobFields): string =>
  `local NAME, OPTIONS = ${quoted(name)}, ${quoted(options)}${READS}`;

/** The keys of a queue, by the end of their name, and the type that BullMQ stores there. */
export const QUEUE_KEY_TYPES = {
  wait: 'list',
  active: 'list',
  paused: 'list',
  delayed: 'zset',
  prioritized: 'zset',
  'waiting-children': 'zset',
  completed: 'zset',
  failed: 'zset',
  repeat: 'zset',
  marker: 'zset',
  stalled: 'set',
  'stalled-check': 'string',
  id: 'string',
  pc: 'string',
  limiter: 'string',
  meta: 'hash',
  events: 'stream',
} as const;

/** Job schedulers that are read in one run. Those with long ids were removed before. */
export const MAX_SCHEDULERS_READ = 20;
/** Digits of the largest number of jobs that a double counts exactly. */
const MAX_COUNTER_DIGITS = 15;
/** Twice BullMQ's `stalledInterval`. */
const MAX_STALLED_CHECK_MS = 60_000;

/**
 * KEYS: those of QUEUE_KEY_TYPES, in their order; ARGV: the end of each name, then each type. Removes values that BullMQ does
 * not write there, and ids that are too long to be read. Returns the ends of the names of the keys that it changed.
 */
export const REMOVE_FOREIGN_VALUES = `
local keys, changed = {}, {}

local function remove(name)
  redis.call('UNLINK', keys[name])
  changed[#changed + 1] = name
end

local function hasLong(members)
  for _, member in ipairs(members) do
    if #member > ${MAX_JOB_ID_OCTETS} then return true end
  end
  return false
end

for at, key in ipairs(KEYS) do
  local name, expected = ARGV[at], ARGV[#KEYS + at]
  keys[name] = key
  local type = redis.call('TYPE', key).ok
  if type ~= 'none' and type ~= expected then remove(name) end
end

for _, name in ipairs({ 'id', 'pc' }) do
  local length = redis.call('STRLEN', keys[name])
  if length > ${MAX_COUNTER_DIGITS} or length > 0 and not string.find(redis.call('GET', keys[name]), '^%d+$') then remove(name) end
end

local kept = redis.call('HGET', keys.meta, 'opts.maxLenEvents')
if kept and not string.find(kept, '${EVENTS_KEPT}') then
  redis.call('HDEL', keys.meta, 'opts.maxLenEvents')
  changed[#changed + 1] = 'meta'
end

-- The last id of a stream may leave none for the next entry.
if redis.call('EXISTS', keys.events) == 1 then
  local added = redis.pcall('XADD', keys.events, '*', 'event', 'checked')
  if type(added) ~= 'table' or not added.err then redis.call('XDEL', keys.events, added)
  elseif not string.find(added.err, 'OOM command', 1, true) then remove('events') end
end

local pauseMs = redis.call('PTTL', keys['stalled-check'])
if pauseMs == -1 or pauseMs > ${MAX_STALLED_CHECK_MS} then remove('stalled-check') end

-- BullMQ has two markers; one that is there wakes a worker.
if redis.call('ZCARD', keys.marker) > 2 or hasLong(redis.call('ZRANGE', keys.marker, 0, 1)) then
  remove('marker')
  redis.call('ZADD', keys.marker, 0, '0')
end

-- Removed ids make way for others, so until none is long.
for _ = 1, ${MAX_PASSED_OVER} do
  local ids = redis.call('ZRANGE', keys['repeat'], 0, ${MAX_SCHEDULERS_READ - 1})
  if not hasLong(ids) then break end
  changed[#changed + 1] = 'repeat'
  for _, id in ipairs(ids) do
    if #id > ${MAX_JOB_ID_OCTETS} then redis.call('ZREM', keys['repeat'], id) end
  end
end
return changed
`;
