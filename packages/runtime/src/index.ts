export { ERROR_CATALOGUE, type ErrorCode } from './catalogue.js';
export { systemClock } from './clock.js';
export type { Clock, Context } from './context.js';
export { describeError, isPackhouseError, PackhouseError, type PackhouseErrorOptions } from './errors.js';
export { createLogger, type Logger, type LogLevel, redact } from './logger.js';
export { createMetrics, type Metrics } from './metrics.js';
export { bytesSetting, integerSetting, loadSettings, type SettingsSchema } from './settings.js';
export { createShutdown, type Shutdown } from './shutdown.js';
