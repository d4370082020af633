import { withoutComments } from './imports-of.js';

/** A phrase that is not ours; `say` is what the field says. A space of `found` is any white space. */
interface Word {
  found: RegExp;
  say: string;
}

const RATED = 'requests|calls|units|blocks|bytes|rows|files|pages|events|times|lookups|transactions|[KMG]i?B';

/** Taken from Temporal, Kubernetes, Stripe, Postgres, Prometheus, eRPC and execution-apis. */
const WORDS: readonly Word[] = [
  // Screens and commands.
  { found: /asks? (?:it )?no more/i, say: 'Cordon' },
  { found: /\btak(?:e|es|ing) (?:a|the) node out\b/i, say: 'Cordon' },
  { found: /\bcan and lacks\b/i, say: 'Capabilities' },
  { found: /\bleave as it is\b/i, say: 'Cancel' },
  { found: /\bprice of a million\b/i, say: 'Price per million' },
  { found: /\bpublished a second\b/i, say: 'Published/s' },
  { found: /\bto the content\b(?! of)/i, say: 'Skip to content' },
  { found: /\bwhat there is of (?:it|them)\b/i, say: 'Availability' },
  { found: /\bat which no packer lived\b/i, say: 'Missed runs' },
  { found: /\basking the (?:console|nodes)\b/i, say: 'Loading…' },
  { found: /\bbackfills leave to\b/i, say: 'Reserve for live traffic (%)' },
  { found: /\bholders? of (?:a|the|an API) keys?\b/i, say: 'API key, client' },
  { found: /\bsee its usage\b/i, say: 'View usage' },
  { found: /\blinks? for one use\b/i, say: 'one-time link' },
  { found: /\bnothing is wanted\b/i, say: 'No backfills yet.' },
  { found: /['"`>]Done in['"`<]/, say: 'ETA' },
  { found: /\bcomplete[ -]to\b/i, say: 'complete through' },
  { found: /\d behind final\b/i, say: 'blocks behind finalized' },
  { found: /\bwhat (?:each|every|an) upstream said\b/i, say: 'Responses by upstream' },
  { found: /\b(?:tries|tried|try) again now\b/i, say: 'Retry now' },
  { found: /\bheld-back\b/, say: 'throttled' },
  { found: /\bbeyond-head\b/, say: 'not-produced' },
  { found: /\bnot[- ]wanted\b/i, say: 'not requested' },
  { found: /\bwanted (?:range|block)s?\b/i, say: 'backfill, requested blocks' },
  { found: /\bwhat is inside of\b/i, say: 'contents' },
  { found: /\bwho downloads\b/i, say: 'downloaders' },
  { found: /\btells? of\b/i, say: 'reports' },
  { found: /\b(?:process|worker|packer|ingester|gateway)s? (?:that )?lives?\b/i, say: 'running' },
  { found: /\b(?:is|are|was|were) at work\b/i, say: 'is active' },
  { found: /--why\b/, say: '--reason' },
  // JSON, SQL, metrics and events.
  { found: /\bkept_?[bB]ack\b/, say: 'throttledBy' },
  { found: /\btold_tip\b/, say: 'advertised_tip' },
  { found: /\bnft_job_asker\b/, say: 'nft_job_requester' },
  { found: /\b(?:backfills|schedules)\/steer\b/, say: 'backfills/state, schedules/state' },
  { found: /\blook(?:s|ed|ing)? at the head\b/i, say: 'poll the head' },
  // Sentences.
  { found: new RegExp(`\\b(?:${RATED}) an? (?:second|minute|hour|day|month)\\b`, 'i'), say: 'per second' },
  { found: /\bwhoever\b/i, say: 'a noun: clients, operators' },
  { found: /\bsome \d[\d,.]* (?:times|ms|s|MB|GB|%|blocks|calls|requests)\b/i, say: 'about' },
  {
    found: /\b(?:what is had|could not be had|were let go|was let go|is let go)\b/i,
    say: 'missing, removed',
  },
];

/**
 * Phrases of a text that are not ours, each with its place and what to say instead. Comments of sources do not count:
 * they are read by those who read code.
 */
export function checkWords(path: string, text: string, words: readonly Word[] = WORDS): string[] {
  const shown = /\.tsx?$/.test(path) ? withoutComments(text) : text;
  return words.flatMap(({ found, say }) => {
    const pattern = new RegExp(found.source.replaceAll(' ', '\\s+'), `${found.flags}g`);
    return [...shown.matchAll(pattern)].map((match) => {
      const line = shown.slice(0, match.index).split('\n').length;
      return `${path}:${line} says "${match[0].replace(/\s+/g, ' ')}": say "${say}"`;
    });
  });
}
