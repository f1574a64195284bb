/** Headers of the local socket that name the author of a request; percent-encoded. */
export const actingAs = 'baton-acting-as';
export const actingRun = 'baton-acting-run';

/** The header with the proof that shows who calls on the local socket (`server/local-proofs.ts`). */
export const callerProof = 'baton-proof';

/** Tells on the local socket at which loopback port its clients get their proofs. */
export const proofPortPath = '/api/v1/socket/proof-port';
