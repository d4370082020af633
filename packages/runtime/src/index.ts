export {
  addressBlock,
  createAddressList,
  createOriginList,
  isAddressRange,
  networkBlock,
} from './addresses.js';
export { captureWarnings } from './capture-warnings.js';
export { ERROR_CATALOGUE, type ErrorCode } from './catalogue.js';
export { getCertificateHint } from './connections/certificates.js';
export { guardConnections } from './connections/guard-connections.js';
export { POSTGRES_KEEP_ALIVE, POSTGRES_SESSION } from './connections/postgres-sessions.js';
export { findRedisFault, isRedisReplica } from './connections/redis-server.js';
export type { Context } from './context.js';
export {
  describeError,
  isBudgetError,
  isPackhouseError,
  PackhouseError,
  toFinalError,
} from './errors.js';
export { getOrAdd } from './get-or-add.js';
export { getWeight, heavier } from './heavier.js';
export { startMetrics } from './metrics-server.js';
export { createLogger, type Logger } from './observe/logger.js';
export { createMetrics, type Metrics, renderTogether } from './observe/metrics.js';
export { API_KEY, isApiKey, redact } from './observe/redact.js';
export type { TallyCount, TallyTimes } from './observe/tallies.js';
export { openTracing, type Span } from './observe/tracing.js';
export { isAlive, processStart } from './process-start.js';
export { parseRedisAddress, type RedisTarget } from './redis-address.js';
export { repeat } from './repeat.js';
export { type ProcessMessage, runProcess } from './run-process.js';
export { openText, sealText } from './sealed-text.js';
export {
  databaseUrlSetting,
  networksFileSetting,
  processSettings,
  redisUrlSetting,
  signingKeyFileSetting,
  storeSettings,
  trustProxySetting,
  webSetting,
  workerSettings,
} from './service-settings.js';
export {
  bytesSetting,
  completeEnvironment,
  durationSetting,
  integerSetting,
  loadSettings,
  logLevelSetting,
  namesProxy,
} from './settings.js';
export { onSignals } from './signals.js';
export { createThreadPool, type ThreadOptions } from './thread-pool.js';
export { type Clock, DAY_MS, systemClock, toDay } from './time/clock.js';
export { createFairTurns, type FairTurns, FIRST, TooManyWaitingError } from './time/fair-turns.js';
export { createOnceAWhile } from './time/once-a-while.js';
export { parseDate } from './time/parse-date.js';
export { CallController, type CallSignal, openScope, type Scope, untilAborted } from './time/signals.js';
export { openZone, type Zone } from './time/time-zone.js';
export { parseWeekHours, type WeekHours } from './time/week-hours.js';
export { requireWebAssembly } from './web-assembly.js';
