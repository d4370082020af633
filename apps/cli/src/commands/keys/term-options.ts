import type { Place } from '../../terminal/command.js';

/** What an API key may do, as options of its commands. */
export interface TermOptions extends Place {
  network?: string;
  expires?: string;
  origin?: string[];
  address?: string[];
  method?: string[];
  contract?: string[];
  maxLogRange?: string;
}
