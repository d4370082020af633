export { CallController, type CallSignal } from './call-signal.js';
export { ERROR_CATALOGUE, type ErrorCode } from './catalogue.js';
export { systemClock } from './clock.js';
export type { Clock, Context } from './context.js';
export { durationSetting } from './duration-setting.js';
export { describeError, isPackhouseError, PackhouseError, type PackhouseErrorOptions } from './errors.js';
export { createLogger, LOG_LEVELS, type Logger, type LogLevel } from './logger.js';
export { createMetrics, type Metrics } from './metrics.js';
export { serveMetrics } from './metrics-server.js';
export { createOnceAWhile, type OnceAWhile } from './once-a-while.js';
export { redact } from './redact.js';
export { type ProcessMessage, type ProcessParts, runProcess } from './run-process.js';
export { openScope, type Scope, untilAborted } from './scope.js';
export {
  databaseUrlSetting,
  drainLimitSetting,
  metricsHostSetting,
  metricsPortSetting,
  networksFileSetting,
  objectStoreSetting,
  redisUrlSetting,
  s3EndpointSetting,
  signingKeyFileSetting,
} from './service-settings.js';
export {
  bytesSetting,
  integerSetting,
  loadSettings,
  logLevelSetting,
  type SettingsSchema,
} from './settings.js';
export { createShutdown, type Shutdown } from './shutdown.js';
export { startMetrics } from './start-metrics.js';
export type { TallyCount, TallySeries, TallyTimes } from './tallies.js';
export { openTracing, type Span, type SpanFacts, type Tracing } from './tracing.js';
