export { notificationLoop } from './notifications/notification-loop.js';
export { sealAddress } from './notifications/send-message.js';
export { makeHookSalt, toHookSecret } from './outbox/secret.js';
export type { HookNetwork } from './webhooks/begin-delivery.js';
export { createHookDelivery } from './webhooks/deliver.js';
export { hookLoop } from './webhooks/dispatch.js';
export { createLogMatcher } from './webhooks/match-logs.js';
