export { canonicalText } from './chain/canonical.js';
export { fixedChain } from './chain/fixed-chain.js';
export type { HonestChain } from './chain/honest-chain.js';
export { contentIsHonest } from './invariants/1-content-is-honest.js';
export { noOverlapOnlyFinal } from './invariants/2-no-overlap-only-final.js';
export { bytesNeverChange } from './invariants/3-bytes-never-change.js';
export { coverageIsExact, type ExcusedHole } from './invariants/4-coverage-is-exact.js';
export { nothingLostOrDoubled, type Redone } from './invariants/5-nothing-lost-or-doubled.js';
export { pointersResolve } from './invariants/6-pointers-resolve.js';
export { reclaimedAfterReadable } from './invariants/7-reclaimed-after-readable.js';
export { noSecrets, type PublicText } from './invariants/8-no-secrets.js';
export { memoryBounded } from './invariants/9-memory-bounded.js';
export { auditIsClean } from './invariants/audit-is-clean.js';
export {
  type CoverageAnswer,
  checkCoverageAnswer,
  coverageRouteIsTrue,
} from './invariants/coverage-route.js';
export type { Evidence } from './invariants/evidence.js';
export { manifestVerifies } from './invariants/manifest-verifies.js';
export { createFindings, type Findings, type Verdict } from './invariants/verdict.js';
export { type MemorySamples, sampleMemory } from './processes/sample-memory.js';
export { checkFile, type Downloader, type HandedOut, startDownloader } from './watch/downloader.js';
export { type Sighting, startWatcher, type Vanished, type Watcher } from './watch/watcher.js';
