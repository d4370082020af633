export { captureWarnings } from './capture-warnings.js';
export { ERROR_CATALOGUE, type ErrorCode } from './catalogue.js';
export { type Clock, systemClock } from './clock.js';
export type { Context } from './context.js';
export { describeError, isBudgetError, isPackhouseError, PackhouseError } from './errors.js';
export { createFairTurns, type FairTurns, FIRST, TooManyWaitingError } from './fair-turns.js';
export { createLogger, type Logger } from './logger.js';
export { createMetrics, type Metrics, renderTogether } from './metrics.js';
export { startMetrics } from './metrics-server.js';
export { createOnceAWhile } from './once-a-while.js';
export { isAlive, processStart } from './process-start.js';
export { redact } from './redact.js';
export { type ProcessMessage, runProcess } from './run-process.js';
export {
  databaseUrlSetting,
  drainLimitSetting,
  jobLockSetting,
  metricsHostSetting,
  metricsPortSetting,
  networksFileSetting,
  objectStoreSetting,
  redisUrlSetting,
  s3EndpointSetting,
  signingKeyFileSetting,
  trustProxySetting,
} from './service-settings.js';
export { bytesSetting, durationSetting, integerSetting, loadSettings, logLevelSetting } from './settings.js';
export { CallController, type CallSignal, openScope, type Scope, untilAborted } from './signals.js';
export type { TallyCount, TallyTimes } from './tallies.js';
export { openTracing, type Span } from './tracing.js';
export { requireWebAssembly } from './web-assembly.js';
