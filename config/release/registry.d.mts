export class Registry {
  constructor(options?: { readonly hubUrl?: string });
  digestOf(reference: {
    readonly registry: string;
    readonly repository: string;
    readonly tag: string;
  }): Promise<string>;
}
