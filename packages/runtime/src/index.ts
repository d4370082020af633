export {
  addressBlock,
  createAddressList,
  createOriginList,
  isAddressRange,
  networkBlock,
} from './addresses.js';
export {
  describeError,
  ERROR_CATALOGUE,
  type ErrorCode,
  getWeight,
  heavier,
  isBudgetError,
  isPackhouseError,
  PackhouseError,
  toFinalError,
} from './catalogue.js';
export { findUnclear } from './clear-name.js';
export { guardConnections } from './connections/guard-connections.js';
export { getCertificateHint, namesProxy } from './connections/outgoing.js';
export { POSTGRES_KEEP_ALIVE, POSTGRES_SESSION } from './connections/postgres-sessions.js';
export type { Context } from './context.js';
export { repeat } from './context.js';
export {
  makeFolder,
  noSpace,
  notWritable,
  orNotWritable,
  readIfThere,
  writeWhole,
} from './files/whole-file.js';
export { getOrAdd } from './get-or-add.js';
export { startMetrics } from './metrics-server.js';
export { createLogger, type Logger } from './observe/logger.js';
export { createMetrics, type Metrics, renderTogether } from './observe/metrics.js';
export { API_KEY, isApiKey, redact } from './observe/redact.js';
export type { TallyCount, TallyTimes } from './observe/tallies.js';
export { openTracing, type Span } from './observe/tracing.js';
export { isAlive, processStart } from './process-start.js';
export { findRedisFault, isRedisReplica, parseRedisAddress, type RedisTarget } from './redis-address.js';
export { REQUESTS_AT_ONCE } from './requests-at-once.js';
export { captureWarnings, type ProcessMessage, requireWebAssembly, runProcess } from './run-process.js';
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
} from './settings.js';
export { onSignals } from './shutdown.js';
export { createThreadPool, type ThreadOptions } from './thread-pool.js';
export { type Clock, createOnceAWhile, DAY_MS, parseDate, systemClock, toDay } from './time/clock.js';
export { createFairTurns, type FairTurns, FIRST, TooManyWaitingError } from './time/fair-turns.js';
export {
  CallController,
  type CallSignal,
  openScope,
  type Scope,
  shareRun,
  untilAborted,
  withinMs,
  writeEvery,
} from './time/signals.js';
export { openZone, type Zone } from './time/time-zone.js';
export { parseWeekHours, type WeekHours } from './time/week-hours.js';
