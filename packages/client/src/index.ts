export { type Bound, looksLikeBound, parseBound } from './range.js';
