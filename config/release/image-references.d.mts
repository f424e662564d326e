export interface ImageReference {
  readonly registry: string;
  readonly repository: string;
  readonly tag: string;
  readonly digest: string | null;
  readonly tagged: string;
}
export function parseReference(text: string): ImageReference;
export function imagesOfCompose(text: string): string[];
export function imagesOfDockerfile(text: string): string[];
export function replaceReferences(text: string, replacements: ReadonlyMap<string, string>): string;
