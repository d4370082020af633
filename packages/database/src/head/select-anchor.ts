import { statement } from '../connection/statement.js';

/** $1 network. */
export const selectAnchor = statement(
  'head/select-anchor',
  `SELECT h.anchor_block AS block, h.anchor_hash AS hash
   FROM packhouse.head AS h JOIN packhouse.network AS n ON n.id = h.network_id
   WHERE n.name = $1 AND h.anchor_block IS NOT NULL AND h.anchor_hash IS NOT NULL`,
);
