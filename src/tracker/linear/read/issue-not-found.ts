import { BatonError } from '../../../core/baton-error.ts';

export function issueNotFound(id: string): BatonError {
  return new BatonError('tracker_issue_not_found', `There is no issue ${id} in the project.`, { details: { id } });
}
