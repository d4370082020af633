export { notificationLoop } from './notifications/notification-loop.js';
export { sealAddress } from './notifications/send-message.js';
export type { HookNetwork } from './webhooks/begin-delivery.js';
export { createHookDelivery } from './webhooks/deliver.js';
export { hookLoop } from './webhooks/dispatch.js';
export { createLogMatcher } from './webhooks/match-logs.js';
export { makeHookSalt, toHookSecret } from './webhooks/secret.js';
