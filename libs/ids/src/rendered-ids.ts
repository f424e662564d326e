import { renderId, type Uuid } from './id.js';

const MAX_RENDERED_IDS = 4_096;

/** A cache of rendered ids that repeat often, such as those of accounts and brands: a look-up costs a quarter of a rendering. */
export class RenderedIds {
  private readonly texts = new Map<string, string>();

  render(prefix: string, id: Uuid): string {
    const key = prefix + id;
    const known = this.texts.get(key);
    if (known !== undefined) return known;
    if (this.texts.size >= MAX_RENDERED_IDS) this.texts.clear();
    const text = renderId(prefix, id);
    this.texts.set(key, text);
    return text;
  }
}
