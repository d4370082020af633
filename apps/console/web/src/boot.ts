/**
 * Runs inside the page's HTML (see vite.config.ts), before the script of the page is there: the colours that were chosen,
 * and the requests whose answers the first screen waits for.
 */

import { beginEarly } from './lib/early.js';
import { applyTheme, getTheme } from './lib/theme.js';

applyTheme(getTheme());
beginEarly(location.hash);
