/** The calls of a daemon between the end of a run and the end of its change, in their order. */
export const deliverySteps: ReadonlySet<string> = new Set([
  'publish.ref',
  'publish.record',
  'pulls.open',
  'pullRequests.open',
  'pullRequests.stand',
  'pullRequests.moved',
  'tracker.moveIssue',
  'checks.plan',
  'checks.run',
  'checks.end',
  'pullRequests.sendBack',
  'messages.leave',
  'pulls.merge',
  'pulls.moveBase',
  'pullRequests.merged',
]);
