/** The methods of every path, collected from the registered routes, for 405 responses and their Allow header. */
export class AllowedMethods {
  private readonly paths = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();

  /** Registers a route; `path` in the router's notation, `:name` for a parameter. */
  learn(path: string, methods: readonly string[]): void {
    let entry = this.paths.get(path);
    if (entry === undefined) {
      const pattern = path.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/:[A-Za-z]+/g, '[^/]+');
      entry = { pattern: new RegExp(`^${pattern}$`), methods: new Set() };
      this.paths.set(path, entry);
    }
    for (const method of methods) entry.methods.add(method);
  }

  /** The methods that a path supports, in alphabetical order; empty for a path that does not exist. */
  of(path: string): string[] {
    const methods = new Set<string>();
    for (const entry of this.paths.values()) {
      if (entry.pattern.test(path)) for (const method of entry.methods) methods.add(method);
    }
    return [...methods].sort();
  }
}
