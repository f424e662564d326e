export interface NamedImage {
  readonly file: string;
  readonly image: string;
}
export function pinImages(options: {
  readonly root: string;
  readonly registry: {
    digestOf(reference: {
      readonly registry: string;
      readonly repository: string;
      readonly tag: string;
    }): Promise<string>;
  };
}): Promise<NamedImage[]>;
export function unpinnedImages(options: { readonly root: string }): Promise<NamedImage[]>;
export function writeSbom(options: { readonly root: string; readonly file: string }): Promise<number>;
