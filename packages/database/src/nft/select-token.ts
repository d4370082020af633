import { statement } from '../connection/statement.js';

/** $1 network, $2 contract, $3 token id. */
export const selectNftToken = statement(
  'nft/select-token',
  `SELECT contract, token_id, asked_at, outcome, standard, uri, metadata, indexed_at FROM packhouse.nft_token
   WHERE network = $1 AND contract = $2 AND token_id = $3`,
);
