import type { Database } from '@packhouse/database';
import type { ObjectStore } from '@packhouse/object-store';
import type { CoverageParts } from '@packhouse/pipeline';
import type { Context } from '@packhouse/runtime';
import type { Admission } from '../auth/admission.js';
import type { FileFinder } from '../files/find-file.js';
import type { OpenDoor } from '../limits/open-door.js';
import type { PointerFinder } from '../pointers/find-pointer.js';
import type { Site } from '../sites/site.js';

/** What routes are made of; each takes what it needs. */
export interface GatewayParts {
  context: Context;
  database: Database;
  objectStore: ObjectStore;
  sites: readonly Site[];
  admission: Admission;
  openDoor: OpenDoor;
  pointers: PointerFinder;
  files: FileFinder;
  coverage: CoverageParts;
  /** Whether the gateway is shutting down: requests are refused. */
  draining(): boolean;
  /** Whether nothing more should be sent here: it is shutting down, or about to. */
  leaving(): boolean;
  /** Whether the networks file is in force as it is. */
  networksFileOk(): boolean;
  /** What takes memory, by name: caches, and the answers that are held. */
  caches(): Record<string, { readonly bytes: number }>;
}
