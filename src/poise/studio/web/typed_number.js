// A number that can be typed. A text that is being typed stays as it is, even if the number changes meanwhile: Enter or
// leaving the field gives it to the server, which calls `settle` when it has used or refused it. Text that was typed in
// between stays. Escape discards the text.

export default {
  props: { value: String },
  emits: ["typed"],
  template: `<input inputmode="decimal" :value="text ?? value" @input="type" @keydown.enter="enter"
    @keydown.esc="discard" @blur="enter">`,

  data: () => ({ text: null, isEntered: false }),

  methods: {
    type(event) {
      this.text = event.target.value;
      this.isEntered = false;
    },
    enter() {
      if (this.text === null || this.isEntered) return;
      this.isEntered = true;
      this.$emit("typed", this.text);
    },
    settle() {
      if (this.isEntered) this.discard();
    },
    discard() {
      this.text = null;
      this.isEntered = false;
    },
  },
};
