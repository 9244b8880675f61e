// Products and factors of large matrices in tiles that threads share. How a matrix is divided follows from its size
// alone, and so do all bits of the result.
#pragma once

#include <span>

#include "engine/learn/gaussian/program/row_model.h"
#include "engine/support/parallel.h"

namespace dma {

// lower triangle of sum += gains^T gains, the blocks of rows one after the other.
void add_gram(std::span<const Matrix> gains, Matrix& sum, ThreadPool& pool);

// Lower C of C C^T in place of the lower triangle of a symmetric positive definite matrix; the upper one is left as it
// is. Not a number where there is none.
void factorise(Eigen::Ref<Matrix> matrix, ThreadPool& pool);

// The factor of matrix + diag(shift), whose eigenvalues are at least those of the shift. Where rows repeat and noise is
// tiny, entries are so large that rounding makes it indefinite: then as much as rounding may have taken is added to the
// diagonal.
Matrix safe_factor(const Matrix& matrix, const Vector& shift, ThreadPool& pool);

// C^-1 for lower triangular C: a third of P^3 products.
Matrix triangular_inverse(const Matrix& lower, ThreadPool& pool);

}  // namespace dma
