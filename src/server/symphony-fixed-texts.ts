/**
 * Texts that the reference of Symphony's HTTP API fixes word for word (rows H5, H7, H8 and H14 of docs/conformance.md), so
 * they are not reworded.
 */
export const symphonyTexts = {
  issueNotFound: 'Issue not found',
  methodNotAllowed: 'Method not allowed',
  routeNotFound: 'Route not found',
  snapshotUnavailable: 'Snapshot unavailable',
  orchestratorUnavailable: 'Orchestrator is unavailable',
} as const;
