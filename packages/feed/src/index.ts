export { type ChangeSource, createChangeSource } from './changes.js';
export { createFeed, type Feed, type FeedPage } from './create-feed.js';
