/** The projects whose facts are in this store. */
export interface Projects {
  /** The project of this name, made if it is new. */
  ensure(name: string, at: number): Promise<Project>;
  list(): Promise<readonly Project[]>;
}

export interface Project {
  /** Short and stable; the `project` of every other table. */
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
}
