/** Which issue, in which project. Identity is always both. */
export interface IssueKey {
  readonly project: string;
  readonly issueId: string;
}
