// f = X w + b as a row model written out: per output the weights of all columns, then its bias.
#pragma once

#include "engine/learn/gaussian/program/row_model.h"

namespace dma::oracle {

class LinearRows final : public RowModel {
 public:
  LinearRows(Index inputs, Index outputs) : inputs_(inputs), outputs_(outputs) {}
  Index scalars() const override { return outputs_ * (inputs_ + 1); }
  Index outputs() const override { return outputs_; }
  void evaluate(const Vector& m, const Matrix& rows, Matrix& f) const override {
    const Eigen::Map<const Matrix> w(m.data(), inputs_ + 1, outputs_);
    f = (rows * w.topRows(inputs_)).rowwise() + w.row(inputs_);
  }
  void linearise(const Vector& m, const Matrix& rows, Matrix& f, Matrix& gains) const override {
    evaluate(m, rows, f);
    const Index n = rows.rows();
    gains.setZero(n * outputs_, scalars());
    for (Index k = 0; k < outputs_; ++k) {
      gains.block(k * n, k * (inputs_ + 1), n, inputs_) = rows;
      gains.block(k * n, k * (inputs_ + 1) + inputs_, n, 1).setOnes();
    }
  }

 private:
  Index inputs_, outputs_;
};

}  // namespace dma::oracle
