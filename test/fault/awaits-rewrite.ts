/**
 * PENDING: claims with leases and retries that survive a restart are not in this version yet. What needs them is
 * written and skipped by this one word; when they are there it becomes `false`, and then this file goes.
 */
export const awaitsDurableClaims = false;
