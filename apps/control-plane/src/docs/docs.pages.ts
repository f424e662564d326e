import { ERROR_CODES, errorPage, errorsPage } from './error-pages.js';
import { readGuides } from './guides.js';
import type { ApiDescription } from './openapi/openapi.controller.js';
import { referencePages } from './reference/reference-pages.js';

/** Every page, made once and kept: they say the same to everybody. */
export class DocsPages {
  readonly errors = errorsPage();
  private readonly guides: ReadonlyMap<string, string>;
  private readonly errorPages: ReadonlyMap<string, string>;
  private references: ReadonlyMap<string, string> | null = null;

  /** `publicBaseUrl` is the address that the pages name as the service's own. */
  constructor(
    publicBaseUrl: string,
    private readonly description: ApiDescription,
  ) {
    this.guides = readGuides(publicBaseUrl);
    this.errorPages = new Map(ERROR_CODES.map((code) => [code, errorPage(code, publicBaseUrl)]));
  }

  /** The first page under `''`. Null for a page that is not there, as below. */
  guide(name: string): string | null {
    return this.guides.get(name) ?? null;
  }

  error(code: string): string | null {
    return this.errorPages.get(code) ?? null;
  }

  /** The API reference, `''` for its overview. Made when first asked for: the application is described by then. */
  reference(chapter: string): string | null {
    this.references ??= referencePages(this.description.value);
    return this.references.get(chapter) ?? null;
  }
}
