import type { Connections } from '../connection/connections.js';
import type { Tip } from '../manifest/append-entry.js';
import type { OriginIds } from '../manifest/origins.js';

/** What publishing works with. */
export interface PublishTools {
  connections: Connections;
  origins: OriginIds;
  /** By network and kind. */
  tips: Map<string, RememberedTip>;
}

/** Where a log ended when this process last appended to it. */
export interface RememberedTip extends Tip {
  keyId: string;
  /** When its `now` was, on this process's steady clock in milliseconds. */
  readAt: number;
}
